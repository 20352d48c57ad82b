/** Time is passed in, so that tests and replays decide what it is. */
export interface Clock {
  /** Milliseconds since the epoch. May jump in both directions when the machine's clock is set: for dates, not for durations. */
  now(): number;
  /** Milliseconds since some moment of this process, which never go back: for durations. */
  monotonic(): number;
  /** The same instant as ISO 8601 UTC with milliseconds. */
  iso(): string;
}

let lastMs = -1;
let lastIso = "";

/** The machine's clock; the text of a millisecond is made once. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  iso: () => {
    const now = Date.now();
    if (now !== lastMs) {
      lastMs = now;
      lastIso = new Date(now).toISOString();
    }
    return lastIso;
  },
};

/** Waits `ms`; resolves true when the time has passed, false as soon as `signal` is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (passed: boolean) => (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", aborted);
      resolve(passed);
    };
    const aborted = end(false);
    const timer = setTimeout(end(true), ms);
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted);
  });
}
