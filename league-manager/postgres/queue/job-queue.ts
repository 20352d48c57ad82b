import type { Pool } from "pg";
import { type Db, PgBoss } from "pg-boss";
import type { Clock } from "#shared/lib/clock.ts";
import { inTransaction, LostCommit, openPostgres } from "#shared/store/postgres/connection.ts";
import type { MatchQueue } from "../../queue/match-queue.ts";
import { type RunTransaction, transactionOn } from "../run-transaction.ts";
import { DeadJobs } from "./dead-jobs.ts";
import { databaseOf, jobId, MATCHES } from "./job-queue-tables.ts";
import { type ChangeJobs, workOn } from "./job-worker.ts";

/** The interval at which pg-boss looks for lost jobs. One manager does this for all. */
const MONITOR_SECONDS = 1;
const DELETE_SECONDS = 30;
/** The connections that take, confirm and give back jobs, and those of the maintenance. Jobs are added and ended on the connection of the commit. */
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
  const changeJobs = jobChanger(postgres.pool);
  return {
    async enqueue(transaction, jobs) {
      if (jobs.length === 0) return;
      const rows = jobs.map((job) => ({ id: jobId(job), data: job }));
      await boss.insert(MATCHES, rows, transaction ? { db: connectionOf(transaction) } : {});
      // A dead job still has a row, which `insert` skips. The jobs of a commit are new.
      if (!transaction) await boss.retry(MATCHES, jobs.map(jobId));
    },
    async complete(transaction, jobs) {
      if (jobs.length === 0) return;
      const complete = (db: Db) => boss.complete(MATCHES, jobs.map(jobId), undefined, { includeQueued: true, db });
      await (transaction ? lockJobs(transaction, complete) : changeJobs(complete));
    },
    work: (slots, handler) => workOn({ boss, changeJobs, clock, onError, slots, handler }),
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

/** A transaction as a database of pg-boss. */
const connectionOf = (transaction: RunTransaction): Db => ({
  executeSql: async (text: string, values: unknown[] = []) => {
    const { rows } = await transaction.query(text, values);
    return { rows: [...rows] };
  },
});

const LOCK = "SELECT pg_advisory_xact_lock(7211003)";

/**
 * Changes several jobs that other transactions may change too. pg-boss locks their rows in no fixed order, so without this lock two such transactions
 * could wait for each other. A commit takes it after the lock of the run.
 */
async function lockJobs<T>(transaction: RunTransaction, change: (db: Db) => Promise<T>): Promise<T> {
  const [, result] = await Promise.all([transaction.query(LOCK, []), change(connectionOf(transaction))]);
  return result;
}

/** Returns a function that opens a transaction and changes jobs in it. */
const jobChanger =
  (pool: Pool): ChangeJobs =>
  async (change) => {
    try {
      return await inTransaction(pool, (client) => lockJobs(transactionOn(client), change));
    } catch (thrown) {
      // The caller repeats the change, whether it was committed or not.
      throw thrown instanceof LostCommit ? thrown.cause : thrown;
    }
  };
