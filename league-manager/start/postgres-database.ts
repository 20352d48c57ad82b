import type { Clock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { isUnavailable } from "#shared/store/postgres/faults.ts";
import type { OpenDatabase } from "../manager-options.ts";
import { type JobQueue, openJobQueue } from "../postgres/job-queue.ts";
import { openPostgresRun } from "../postgres/postgres-run.ts";
import { startError } from "./database-error.ts";

/** The minimum time between two log lines about an outage of the database, during which each statement of the queue fails. */
const OUTAGE_LINE_EVERY_MS = 60_000;

/** Returns the function that logs the errors of the queue. An outage of the database is no error of this program, so it has no stack. */
export function queueErrors(log: Pick<Logger, "warn">, clock: Pick<Clock, "monotonic">): (thrown: unknown) => void {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return (thrown) => {
    if (!isUnavailable(thrown)) return log.warn({ err: thrown }, "the queue of matches tries again");
    if (clock.monotonic() - loggedAtMs < OUTAGE_LINE_EVERY_MS) return;
    loggedAtMs = clock.monotonic();
    log.warn({ reason: messageOf(thrown) }, "the queue of matches waits for the database");
  };
}

/** Returns the function that opens the run and the queue in a PostgreSQL database. It rejects with StartError, which does not contain the password. */
export const postgresDatabase =
  (url: string): OpenDatabase =>
  async ({ clock, ids, log, warn }) => {
    let queue: JobQueue | null = null;
    const opened = (): JobQueue => {
      if (!queue) throw new Error("the queue is not open yet");
      return queue;
    };
    try {
      // The run is opened first, because it checks the version of the tables.
      const run = await openPostgresRun({
        url,
        clock,
        ids,
        warn,
        queue: {
          enqueue: (transaction, jobs) => opened().enqueue(transaction, jobs),
          complete: (transaction, jobs) => opened().complete(transaction, jobs),
        },
      });
      try {
        queue = await openJobQueue({ url, clock, onError: queueErrors(log, clock) });
      } catch (thrown) {
        await run.close();
        throw thrown;
      }
      const close = async (): Promise<void> => {
        await opened().close();
        await run.close();
      };
      return { run: { ...run, close }, queue };
    } catch (thrown) {
      throw startError(thrown, url);
    }
  };
