import type { OpenDatabase } from "../options.ts";
import { type JobQueue, openJobQueue } from "../postgres/job-queue.ts";
import { openPostgresRun } from "../postgres/postgres-run.ts";
import { startError } from "./database-error.ts";

/** Returns the function that opens the run and the queue in a PostgreSQL database. It rejects with StartError, which does not contain the password. */
export const postgresDatabase =
  (url: string): OpenDatabase =>
  async ({ clock, ids, log }) => {
    let queue: JobQueue | null = null;
    const opened = (): JobQueue => {
      if (!queue) throw new Error("the queue is not open yet");
      return queue;
    };
    try {
      // The run is opened first, because it checks the version of the tables.
      const run = await openPostgresRun({
        ...{ url, clock, ids },
        queue: {
          enqueue: (transaction, jobs) => opened().enqueue(transaction, jobs),
          complete: (transaction, jobs) => opened().complete(transaction, jobs),
        },
      });
      try {
        const onError = (thrown: unknown): void => log.warn({ err: thrown }, "the queue of matches tries again");
        queue = await openJobQueue({ url, clock, onError });
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
