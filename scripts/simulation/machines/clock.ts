import { type Cancel, type Clock, isoAt, pauseBy, timeoutBy } from "#shared/lib/clock.ts";
import type { Scheduler } from "./scheduler.ts";

/** The clock of one simulated process. `stop` cancels all timers, as a kill does. */
export interface ProcessClock extends Clock {
  stop(): void;
  /** Returns the number of timers that are set. */
  timers(): number;
}

/** The date at the start of each simulation. */
export const START_MS = Date.UTC(2026, 0, 1);

/**
 * Creates the clock of a process. `dateOffset` returns the difference between the machine's date and the virtual time, in ms. `onThrow` gets errors that
 * timers throw. Timers that are due while the process is stopped fire at `resumesAt()`.
 */
export function processClock(
  scheduler: Scheduler,
  dateOffset: () => number,
  onThrow: (thrown: unknown) => void,
  resumesAt: () => number = () => 0,
): ProcessClock {
  const startedAt = scheduler.now();
  const timers = new Set<Cancel>();
  let isStopped = false;

  const after = (ms: number, run: () => void): Cancel => {
    if (isStopped) return () => {};
    const fire = (): void => {
      const stoppedMs = resumesAt() - scheduler.now();
      if (stoppedMs > 0) {
        cancelNext = scheduler.after(stoppedMs, fire);
        return;
      }
      timers.delete(cancel);
      try {
        run();
      } catch (thrown) {
        onThrow(thrown);
      }
    };
    let cancelNext = scheduler.after(ms, fire);
    const cancel = (): void => {
      timers.delete(cancel);
      cancelNext();
    };
    timers.add(cancel);
    return cancel;
  };
  const now = (): number => START_MS + dateOffset() + Math.floor(scheduler.now());

  return {
    now,
    monotonic: () => scheduler.now() - startedAt,
    idle: () => scheduler.now() - startedAt,
    iso: () => isoAt(now()),
    after,
    every(ms, run) {
      let isCancelled = false;
      let cancel: Cancel = () => {};
      const again = (): void => {
        cancel = after(Math.max(1, ms), () => {
          if (isCancelled) return;
          again();
          run();
        });
      };
      again();
      return () => {
        isCancelled = true;
        cancel();
      };
    },
    pause: pauseBy(after),
    timeout: timeoutBy(after),
    defer: (run) => void after(0, run),
    nextTurn: () => new Promise((resolve) => void after(0, resolve)),
    timers: () => timers.size,
    stop() {
      isStopped = true;
      for (const cancel of timers) cancel();
      timers.clear();
    },
  };
}
