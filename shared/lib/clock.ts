/** Cancels a timer. Does nothing if a one-shot timer has already fired. */
export type Cancel = () => void;

/**
 * The source of time and timers. Production code is given `systemClock`, tests are given a `manualClock`, and
 * simulations are given a clock of virtual time.
 */
export interface Clock {
  /**
   * Returns the milliseconds since the epoch. Use it for dates, not for durations: the value jumps when the machine's
   * clock is set.
   */
  now(): number;
  /**
   * Returns the milliseconds since an arbitrary moment of this process. The value never decreases. Use it for
   * durations.
   */
  monotonic(): number;
  /** Returns the total milliseconds for which the event loop of this process has waited for input, of `monotonic()`. */
  idle(): number;
  /** Returns `now()` as ISO 8601 UTC text with milliseconds. */
  iso(): string;
  /** Calls `run` once, after `ms`. The timer does not keep the process running. */
  after(ms: number, run: () => void): Cancel;
  /** Calls `run` every `ms`, for the first time after `ms`. The timer does not keep the process running. */
  every(ms: number, run: () => void): Cancel;
  /**
   * Waits `ms` and keeps the process running meanwhile. Resolves to true after `ms`, and to false as soon as `signal`
   * is aborted.
   */
  pause(ms: number, signal?: AbortSignal): Promise<boolean>;
  /** Returns a signal that is aborted with a TimeoutError after `ms`. The timer does not keep the process running. */
  timeout(ms: number): AbortSignal;
  /** Calls `run` in the next turn of the event loop, after the input that has already arrived. */
  defer(run: () => void): void;
  /** Resolves in the next turn of the event loop. */
  nextTurn(): Promise<void>;
}

/**
 * Throws an error in the next turn of the event loop, where no caller catches it. The error ends an agent's process
 * without failing the code that runs now.
 */
export const throwLater = (clock: Pick<Clock, "defer">, error: unknown): void =>
  clock.defer(() => {
    throw error;
  });

let lastInstant = { ms: 0, text: new Date(0).toISOString() };

/** Returns an instant of `Clock.now()` as ISO 8601 UTC text with milliseconds. Keeps the last text, because many messages have the same instant. */
export function isoAt(ms: number): string {
  const whole = Math.trunc(ms);
  if (whole !== lastInstant.ms) lastInstant = { ms: whole, text: new Date(whole).toISOString() };
  return lastInstant.text;
}

const ISO = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/**
 * Returns whether a text is a valid instant in the format of `Clock.iso`. Texts in this format sort in the order of
 * their instants.
 */
export const isIso = (text: string): boolean =>
  // The conversion is slow. It is needed only for days after the 28th, which a month may not have.
  ISO.test(text) && (text.slice(8, 10) <= "28" || isoAt(Date.parse(text)) === text);

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Returns whether a text is an instant in ISO 8601, with any precision and time zone. */
export const isInstant = (text: string): boolean =>
  isIso(text) || (INSTANT.test(text) && !Number.isNaN(Date.parse(text)));

/** Returns an implementation of `Clock.pause` that sets its timers with `after`. */
export const pauseBy =
  (after: Clock["after"]): Clock["pause"] =>
  (ms, signal) =>
    new Promise((resolve) => {
      const end = (passed: boolean) => (): void => {
        cancel();
        signal?.removeEventListener("abort", aborted);
        resolve(passed);
      };
      const aborted = end(false);
      const cancel = after(ms, end(true));
      if (signal?.aborted) aborted();
      else signal?.addEventListener("abort", aborted);
    });

/** Returns an implementation of `Clock.timeout` that sets its timers with `after`. */
export const timeoutBy =
  (after: Clock["after"]): Clock["timeout"] =>
  (ms) => {
    const controller = new AbortController();
    after(ms, () => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")));
    return controller.signal;
  };

let lastMs = -1;
let lastIso = "";

/** The clock of the machine. `iso` caches the text of the current millisecond. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  idle: () => performance.nodeTiming.idleTime,
  iso: () => {
    const now = Date.now();
    if (now !== lastMs) {
      lastMs = now;
      lastIso = isoAt(now);
    }
    return lastIso;
  },
  after: (ms, run) => {
    const timer = unreferenced(setTimeout(run, ms));
    return () => clearTimeout(timer);
  },
  every: (ms, run) => {
    const timer = unreferenced(setInterval(run, ms));
    return () => clearInterval(timer);
  },
  pause: pauseBy((ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  }),
  timeout: (ms) => AbortSignal.timeout(ms),
  defer: (run) => void setImmediate(run),
  nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
};

/** Lets the process end while the timer is pending. In a browser a timer is a number, which has no `unref`. */
function unreferenced(timer: NodeJS.Timeout): NodeJS.Timeout {
  timer.unref?.();
  return timer;
}
