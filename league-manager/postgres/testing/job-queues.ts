import { onTestFinished } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { inTransaction, openPostgres } from "#shared/store/postgres/connection.ts";
import { sharedPostgres } from "#shared/store/testing/postgres-server.ts";
import { createJobQueue, type JobQueue, type JobQueueOptions, openJobQueue } from "../job-queue.ts";
import { type RunTransaction, transactionOn } from "../run-transaction.ts";

export interface TestJobQueues {
  readonly url: string;
  /** The errors that the queues have reported. */
  readonly errors: unknown[];
  /** Opens the queue for another manager. It is closed at the end of the current test. */
  open(url?: string, clock?: JobQueueOptions["clock"]): Promise<JobQueue>;
  commit(change: (transaction: RunTransaction) => Promise<void>): Promise<void>;
}

/** Creates the queue of a new run. */
export async function createTestJobQueues(): Promise<TestJobQueues> {
  const url = await (await sharedPostgres()).createDatabase();
  await createJobQueue(url);
  const postgres = openPostgres<unknown>(url, { applicationName: "test" });
  onTestFinished(() => postgres.close());
  const errors: unknown[] = [];
  return {
    url,
    errors,
    async open(ofManager = url, clock = systemClock) {
      const queue = await openJobQueue({
        url: ofManager,
        clock,
        onError: (thrown) => errors.push(thrown),
      });
      onTestFinished(() => queue.close());
      return queue;
    },
    commit: (change) => inTransaction(postgres.pool, (client) => change(transactionOn(client))),
  };
}
