import type { Clock } from "#shared/lib/clock.ts";

interface NoticeOptions {
  readonly isAvailable: () => boolean;
  readonly clock: Pick<Clock, "every" | "monotonic">;
  /** Sends a line for people, e.g. to the terminal. */
  readonly notice: (message: string) => void;
}

const CHECK_MS = 500;
const GONE = "the database does not answer; results and registrations wait until it is back";
const BACK = "the database answers again";

/** Checks that are later than this show that the process did not run in between. */
const SUSPENDED_MS = 2_500;
/** The time after a suspension in which the connections to the database recover. */
const RECOVERY_MS = 5_000;

const suspended = (ms: number): string =>
  `this manager was suspended for ${Math.round(ms / 1_000)} s (its process or machine was stopped or overloaded)`;

/**
 * Sends one line when the database does not answer, and one when it is back. A suspended process finds its time limits exceeded when it continues, so
 * that is reported instead, and the database only if it does not answer afterwards. Returns the function that ends this.
 */
export function watchDatabase({ isAvailable, clock, notice }: NoticeOptions): () => void {
  let wasAvailable = true;
  let checkedAt = clock.monotonic();
  let recoversUntil = Number.NEGATIVE_INFINITY;
  return clock.every(CHECK_MS, () => {
    const now = clock.monotonic();
    const passedMs = now - checkedAt;
    checkedAt = now;
    if (passedMs >= SUSPENDED_MS) {
      notice(suspended(passedMs - CHECK_MS));
      recoversUntil = now + RECOVERY_MS;
    }
    const isNow = isAvailable();
    if (isNow === wasAvailable || (!isNow && now < recoversUntil)) return;
    notice(isNow ? BACK : GONE);
    wasAvailable = isNow;
  });
}
