/** Cancels a timer. It does nothing when a one-shot timer has already fired. */
export type Cancel = () => void;

/** Time is an argument: production passes `systemClock`, tests pass a `manualClock`, a simulation passes its own. */
export interface Clock {
  /** Milliseconds since the epoch. May jump in both directions when the machine's clock is set: for dates, not for durations. */
  now(): number;
  /** Milliseconds since some moment of this process, which never go back: for durations. */
  monotonic(): number;
  /** `now()` as ISO 8601 UTC with milliseconds. */
  iso(): string;
  /** Calls `run` once, `ms` from now. The timer does not keep the process running. */
  after(ms: number, run: () => void): Cancel;
  /** Calls `run` each `ms`, first after `ms`. The timer does not keep the process running. */
  every(ms: number, run: () => void): Cancel;
  /** Waits `ms` and keeps the process running meanwhile. Resolves true when the time has passed, false as soon as `signal` is aborted. */
  pause(ms: number, signal?: AbortSignal): Promise<boolean>;
  /** A signal that is aborted with a TimeoutError after `ms`. It does not keep the process running. */
  timeout(ms: number): AbortSignal;
  /** Calls `run` in the next turn of the event loop, after the input that has already arrived. */
  defer(run: () => void): void;
  /** Resolves in the next turn of the event loop. */
  nextTurn(): Promise<void>;
}

/**
 * Throws an error in the next turn of the event loop, where nothing catches it. It ends the process of an agent, and fails nothing that runs
 * now.
 */
export const throwLater = (clock: Pick<Clock, "defer">, error: unknown): void =>
  clock.defer(() => {
    throw error;
  });

/** An instant of `Clock.now()` as ISO 8601 UTC with milliseconds. */
export const isoAt = (ms: number): string => new Date(ms).toISOString();

const ISO = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Whether a text is an instant as `iso` writes it. Such texts compare as their instants do. 30 February is none. */
export const isIso = (text: string): boolean =>
  // Every month has 28 days; the conversion takes longer than the pattern.
  ISO.test(text) && (text.slice(8, 10) <= "28" || isoAt(Date.parse(text)) === text);

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Whether a text is an instant in ISO 8601, with any precision and time zone. */
export const isInstant = (text: string): boolean =>
  isIso(text) || (INSTANT.test(text) && !Number.isNaN(Date.parse(text)));

/** `Clock.pause` of a clock whose timers `after` sets. */
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

/** `Clock.timeout` of a clock whose timers `after` sets. */
export const timeoutBy =
  (after: Clock["after"]): Clock["timeout"] =>
  (ms) => {
    const controller = new AbortController();
    after(ms, () => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")));
    return controller.signal;
  };

let lastMs = -1;
let lastIso = "";

/** The machine's clock. `iso` formats each millisecond once. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  iso: () => {
    const now = Date.now();
    if (now !== lastMs) {
      lastMs = now;
      lastIso = isoAt(now);
    }
    return lastIso;
  },
  after: (ms, run) => {
    const timer = withoutHold(setTimeout(run, ms));
    return () => clearTimeout(timer);
  },
  every: (ms, run) => {
    const timer = withoutHold(setInterval(run, ms));
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

/** A browser's timer is a number, which has no `unref` and holds no process. */
function withoutHold(timer: NodeJS.Timeout): NodeJS.Timeout {
  timer.unref?.();
  return timer;
}
