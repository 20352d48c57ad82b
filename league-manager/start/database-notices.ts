import type { Clock } from "#shared/lib/clock.ts";

interface NoticeOptions {
  readonly isAvailable: () => boolean;
  readonly clock: Pick<Clock, "every">;
  /** Sends a line for people, e.g. to the terminal. */
  readonly notice: (message: string) => void;
}

const CHECK_MS = 500;
const GONE = "the database does not answer; results and registrations wait until it is back";
const BACK = "the database answers again";

/** Sends one line when the database does not answer, and one when it is back. Returns the function that ends this. */
export function watchDatabase({ isAvailable, clock, notice }: NoticeOptions): () => void {
  let wasAvailable = true;
  return clock.every(CHECK_MS, () => {
    const isNow = isAvailable();
    if (isNow !== wasAvailable) notice(isNow ? BACK : GONE);
    wasAvailable = isNow;
  });
}
