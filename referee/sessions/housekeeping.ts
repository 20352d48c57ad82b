import type { Cancel, Clock } from "#shared/lib/clock.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import type { SessionHost } from "./host.ts";
import type { Replies } from "./replies.ts";

interface HousekeepingOptions {
  readonly host: SessionHost;
  readonly replies: Replies;
  /** A session that its seats play over REST expires when no seat has acted for this time. */
  readonly expireAfterMs: number;
  readonly log: Logger;
  readonly clock: Clock;
}

const INTERVAL_MS = 15_000;
const EVICT_AFTER_MS = 5 * 60_000;

/** Expires idle sessions, evicts them from memory and removes old replies, immediately and then at intervals. Returns a function that stops it. */
export function startHousekeeping({ host, replies, expireAfterMs, log, clock }: HousekeepingOptions): Cancel {
  const run = (): void => {
    host.forgetIdle(EVICT_AFTER_MS);
    host
      .expireIdle(expireAfterMs, (session, err) => log.error({ err, session }, "a session could not be expired"))
      .catch((thrown) => log.error({ err: thrown }, "idle sessions could not be expired"));
    replies.forgetOld().catch((thrown) => log.error({ err: thrown }, "old replies could not be removed"));
  };
  run();
  return clock.every(Math.min(INTERVAL_MS, expireAfterMs / 4), run);
}
