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

const LOOK_EVERY_MS = 15_000;
const FORGET_AFTER_MS = 5 * 60_000;

/** Expires idle sessions, evicts them from memory and removes old replies: now and at intervals, until it is cancelled. */
export function startHousekeeping({ host, replies, expireAfterMs, log, clock }: HousekeepingOptions): Cancel {
  const look = (): void => {
    host.forgetIdle(FORGET_AFTER_MS);
    host
      .expireIdle(expireAfterMs, (session, err) => log.error({ err, session }, "a session could not expire"))
      .catch((thrown) => log.error({ err: thrown }, "could not expire"));
    replies.forgetOld().catch((thrown) => log.error({ err: thrown }, "old replies could not be removed"));
  };
  look();
  return clock.every(Math.min(LOOK_EVERY_MS, expireAfterMs / 4), look);
}
