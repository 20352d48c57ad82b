import { type Cancel, type Clock, isoAt, pauseBy, systemClock, timeoutBy } from "../clock.ts";

/** A clock that stands still until a test advances it. */
export interface ManualClock extends Clock {
  /**
   * Advances the time by `ms`: fires each timer at its due time, in order, and lets promises settle after each timer.
   */
  advance(ms: number): Promise<void>;
  /** Sets the date, as an operator sets the clock of a machine. `monotonic` and timers are not affected. */
  setDate(now: number): void;
  /** Returns the number of pending timers. */
  timers(): number;
}

/** The clock of the machine with a monotonic time that a test can move forward. Timers run as usual. */
interface ForwardClock extends Clock {
  forward(ms: number): void;
}

export function forwardClock(): ForwardClock {
  let skipped = 0;
  return {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + skipped,
    forward: (ms) => {
      skipped += ms;
    },
  };
}

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export function manualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  /** Pending timers in the order in which they were set. */
  const timers = new Map<object, Timer>();
  let elapsed = 0;
  let epoch = startMs;

  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const set = (key: object, at: number, run: () => void): Cancel => {
    timers.set(key, { at, run });
    return () => void timers.delete(key);
  };
  const after = (ms: number, run: () => void): Cancel => {
    const key = {};
    return set(key, elapsed + Math.max(0, ms), () => {
      timers.delete(key);
      run();
    });
  };
  const every = (ms: number, run: () => void): Cancel => {
    const key = {};
    const schedule = (at: number): Cancel =>
      set(key, at, () => {
        timers.delete(key);
        schedule(at + Math.max(1, ms));
        run();
      });
    return schedule(elapsed + Math.max(1, ms));
  };
  const next = (): Timer | undefined =>
    [...timers.values()].reduce<Timer | undefined>(
      (first, timer) => (first && first.at <= timer.at ? first : timer),
      undefined,
    );
  const now = (): number => epoch + elapsed;

  return {
    now,
    monotonic: () => elapsed,
    idle: () => elapsed,
    iso: () => isoAt(now()),
    after,
    every,
    pause: pauseBy(after),
    timeout: timeoutBy(after),
    defer: (run) => void setImmediate(run),
    nextTurn,
    async advance(ms) {
      const end = elapsed + ms;
      await nextTurn();
      for (let due = next(); due && due.at <= end; due = next()) {
        elapsed = Math.max(elapsed, due.at);
        due.run();
        await nextTurn();
      }
      elapsed = end;
    },
    setDate(date) {
      epoch = date - elapsed;
    },
    timers: () => timers.size,
  };
}
