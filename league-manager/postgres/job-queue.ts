import { PgBoss } from "pg-boss";
import type { Clock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { openPostgres } from "#shared/store/postgres/connection.ts";
import { jobKey } from "../queue/job-changes.ts";
import type { MatchJob, MatchQueue } from "../queue/match-queue.ts";
import { DeadJobs } from "./dead-jobs.ts";
import { databaseOf, MATCHES } from "./job-queue-tables.ts";
import { workOn } from "./job-worker.ts";
import type { RunTransaction } from "./run-transaction.ts";

/** pg-boss looks for lost jobs at this interval. One manager does so for all. */
const MONITOR_SECONDS = 1;
const DELETE_SECONDS = 30;
/** Connections for taking, confirming and giving back jobs, and for the maintenance. Jobs are added and ended in the transactions of the commits. */
const MAX_CONNECTIONS = 3;

export interface JobQueueOptions {
  readonly url: string;
  readonly clock: Pick<Clock, "every" | "monotonic">;
  /** Reports an error, e.g. that the database does not answer. The queue then tries again. */
  readonly onError: (thrown: unknown) => void;
}

export interface JobQueue extends MatchQueue<RunTransaction> {
  /** Ends the maintenance and closes the connections. To be called after the workers have stopped. */
  close(): Promise<void>;
}

/** Opens the queue of a run, which `createJobQueue` has created. Rejects with an error of pg-boss if it has not. */
export async function openJobQueue({ url, clock, onError }: JobQueueOptions): Promise<JobQueue> {
  const postgres = openPostgres<unknown>(url, { applicationName: "league-queue", maxConnections: MAX_CONNECTIONS });
  const boss = new PgBoss({
    ...{ db: databaseOf(postgres), migrate: false, createSchema: false, schedule: false },
    ...{ superviseIntervalSeconds: MONITOR_SECONDS, monitorIntervalSeconds: MONITOR_SECONDS },
    maintenanceIntervalSeconds: DELETE_SECONDS,
  });
  boss.on("error", onError);
  try {
    await boss.start();
  } catch (thrown) {
    await postgres.close();
    throw thrown;
  }
  const dead = new DeadJobs({ boss, clock, onError });
  return {
    async enqueue(transaction, jobs) {
      if (jobs.length === 0) return;
      const rows = jobs.map((job) => ({ id: jobId(job), data: job }));
      await boss.insert(MATCHES, rows, transaction ? { db: inTransaction(transaction) } : {});
      // The row of a dead job still exists. In a commit all jobs are new.
      if (!transaction) await boss.retry(MATCHES, jobs.map(jobId));
    },
    async complete(transaction, jobs) {
      if (jobs.length === 0) return;
      const options = { includeQueued: true, ...(transaction && { db: inTransaction(transaction) }) };
      await boss.complete(MATCHES, jobs.map(jobId), undefined, options);
    },
    work: (slots, handler) => workOn({ boss, clock, onError, slots, handler }),
    onDead: (listener) => dead.onDead(listener),
    async stats() {
      // The maintenance has counted the jobs within the last seconds.
      const [counts] = await boss.getQueueStats(MATCHES);
      return { waiting: counts?.queuedCount ?? 0, held: counts?.activeCount ?? 0 };
    },
    async close() {
      await dead.stop();
      await boss.stop({ graceful: false });
      await postgres.close();
    },
  };
}

/** The id of a job, a UUID that follows from its match and epoch: a job that exists cannot be added again. */
export function jobId(job: MatchJob): string {
  const hex = sha256Hex(jobKey(job));
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

const inTransaction = (transaction: RunTransaction) => ({
  executeSql: async (text: string, values: unknown[] = []) => {
    const { rows } = await transaction.query(text, values);
    return { rows: [...rows] };
  },
});
