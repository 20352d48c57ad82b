import type { Clock } from "../../lib/clock.ts";

/** Estimates when the data arrived that this process reads now. */
export interface Arrival {
  /** Returns the earliest monotonic time, in milliseconds, at which data that is read in this turn of the event loop can have arrived. */
  earliest(): number;
}

/**
 * Creates an estimate. A busy process reads data late: the data may have arrived at any time after the event loop last read all sockets. The loop reads
 * all sockets at the end of a turn, and while it waits for input. Data that had arrived would have ended the wait. The earliest possible arrival is
 * therefore the end of the last turn in which this process read data, plus the time that the loop has waited since then.
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
