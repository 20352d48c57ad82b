import type { Clock } from "../../lib/clock.ts";

/** Estimates when the data arrived that this process reads now. */
export interface Arrival {
  /** Returns the earliest monotonic time, in milliseconds, at which data that is read in this turn of the event loop can have arrived. */
  earliest(): number;
}

/**
 * Creates an estimate. A busy process reads data late: it may have arrived at any time since the event loop last read all sockets. That was at
 * the end of the last turn in which this process read data, or later, when the loop waited for input. So of the time since then only the part
 * in which the loop did not wait is uncertain.
 */
export function createArrival(clock: Pick<Clock, "monotonic" | "idle" | "defer">): Arrival {
  let lastTurn = { endedAt: clock.monotonic(), idle: clock.idle() };
  let earliestInTurn: number | null = null;

  const endTurn = (): void => {
    lastTurn = { endedAt: clock.monotonic(), idle: clock.idle() };
    earliestInTurn = null;
  };

  return {
    earliest() {
      if (earliestInTurn === null) {
        clock.defer(endTurn);
        earliestInTurn = lastTurn.endedAt + (clock.idle() - lastTurn.idle);
      }
      return earliestInTurn;
    },
  };
}
