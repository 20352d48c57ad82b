const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [25, 1_000] as const;
/** A database that has not answered for this time is not available. */
const SLOW_MS = 2_000;

/** Records whether the database answers the requests of a ledger. All times are those of one monotonic clock. */
export class DatabaseAnswers {
  /** The failures since the last answer. */
  #failures = 0;
  /** The time of the first request without an answer; null if all are answered. */
  #waitingSince: number | null = null;

  /** Records that a request was sent. */
  request(nowMs: number): void {
    this.#waitingSince ??= nowMs;
  }

  /** Records an answer. */
  answer(): void {
    this.#failures = 0;
    this.#waitingSince = null;
  }

  /** Records a failure. Returns the pause until the next request, which is longer after each failure. */
  failure(): number {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
    this.#failures++;
    return pauseMs;
  }

  /** Returns whether the database answers. A single failure does not count, because a transaction can fail because of another one. */
  isAvailable(nowMs: number): boolean {
    return this.#failures < 2 && (this.#waitingSince === null || nowMs - this.#waitingSince < SLOW_MS);
  }
}
