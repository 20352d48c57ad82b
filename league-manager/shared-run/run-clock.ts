import { type Clock, isoAt } from "#shared/lib/clock.ts";
import { ignoreUnavailable, type RunDatabase } from "./run-database.ts";

interface RunClockOptions {
  readonly database: Pick<RunDatabase, "time">;
  /** The clock of this machine. */
  readonly clock: Clock;
  readonly warn: (line: string) => void;
}

const MEASURE_EVERY_MS = 5_000;
const WARN_FROM_MS = 1_000;

/**
 * Returns a clock whose dates are those of the database, so that all managers of a run agree when a league starts and when a round ends. The dates
 * between two measurements follow the monotonic clock. Resolves after the first measurement. Rejects with DatabaseUnavailable.
 */
export async function openRunClock({
  database,
  clock,
  warn,
}: RunClockOptions): Promise<{ readonly clock: Clock; stop(): Promise<void> }> {
  const stopped = new AbortController();
  /** The time of the database minus that of the monotonic clock. */
  let offsetMs = Number.NaN;
  let hasWarned = false;
  const now = (): number => Math.floor(offsetMs + clock.monotonic());
  const measure = async (): Promise<void> => {
    const sentMs = clock.monotonic();
    const timeMs = await database.time();
    const halfMs = (clock.monotonic() - sentMs) / 2;
    const measuredMs = timeMs - sentMs - halfMs;
    // A smaller difference is within the accuracy of this measurement.
    if (!(Math.abs(measuredMs - offsetMs) <= halfMs)) offsetMs = measuredMs;
    const aheadMs = clock.now() - now();
    if (hasWarned || Math.abs(aheadMs) <= Math.max(WARN_FROM_MS, halfMs)) return;
    hasWarned = true;
    warn(differs(aheadMs));
  };
  await measure();
  const measureAgain = async (): Promise<void> => {
    while (await clock.pause(MEASURE_EVERY_MS, stopped.signal)) await measure().catch(ignoreUnavailable);
  };
  const measured = measureAgain();
  return {
    clock: { ...clock, now, iso: () => isoAt(now()) },
    async stop() {
      stopped.abort();
      await measured;
    },
  };
}

const differs = (aheadMs: number): string =>
  `the clock of this machine is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? "ahead of" : "behind"} the clock of the database, which the leagues use: synchronize both, e.g. with chrony`;
