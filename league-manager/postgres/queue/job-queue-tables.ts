import { PgBoss, type QueuePolicy } from "pg-boss";
import { sha256Hex } from "#shared/lib/hash.ts";
import { openPostgres, type Postgres } from "#shared/store/postgres/connection.ts";
import { jobKey } from "../../queue/job-changes.ts";
import type { MatchJob } from "../../queue/match-queue.ts";

/** The names of the queues in pg-boss: that of the jobs, and that of the dead jobs. */
export const MATCHES = "matches";
export const LOST_MATCHES = "lost_matches";

/** The time after which the job of a manager that no longer answers is given to another one. pg-boss allows no less. */
export const HEARTBEAT_SECONDS = 10;
/** A job is dead after this number of losses. A manager that stops loses its jobs too. */
const MAX_LOSSES = 20;
const DAY_SECONDS = 24 * 60 * 60;
const OPTIONS = {
  policy: "standard" as QueuePolicy,
  retryLimit: MAX_LOSSES,
  retryDelay: 0,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  // The manager ends matches that take too long, so pg-boss has the longest limits that it allows.
  expireInSeconds: DAY_SECONDS - 1,
  retentionSeconds: 365 * DAY_SECONDS,
  deleteAfterSeconds: 60,
};

/** A dead job that its manager has not handled after a minute is reported to another one. */
const LOST_OPTIONS = {
  retentionSeconds: OPTIONS.retentionSeconds,
  expireInSeconds: 60,
  retryLimit: 1_000,
  retryDelay: 0,
};

/** Creates the tables of the queue, or updates them after pg-boss was updated. A part of `league db migrate`. */
export async function createJobQueue(url: string): Promise<void> {
  const postgres = openPostgres<unknown>(url, {
    applicationName: "league-db",
    maxConnections: 1,
    statementTimeoutMs: 0,
  });
  const boss = new PgBoss({ db: databaseOf(postgres), migrate: true, schedule: false, supervise: false });
  const failed = Promise.withResolvers<never>();
  boss.on("error", failed.reject);
  try {
    await Promise.race([failed.promise, createQueues(boss)]);
  } finally {
    await boss.stop({ graceful: false });
    await postgres.close();
  }
}

async function createQueues(boss: PgBoss): Promise<void> {
  await boss.start();
  await boss.createQueue(LOST_MATCHES, LOST_OPTIONS);
  await boss.updateQueue(LOST_MATCHES, LOST_OPTIONS);
  const { policy, ...options } = OPTIONS;
  await boss.createQueue(MATCHES, { policy, ...options, deadLetter: LOST_MATCHES });
  await boss.updateQueue(MATCHES, { ...options, deadLetter: LOST_MATCHES });
}

/** Returns a database as the options of pg-boss expect it. */
export const databaseOf = ({ pool }: Postgres<unknown>) => ({
  executeSql: (text: string, values?: unknown[]) => pool.query(text, values),
});

/** Returns the id of a job, a UUID that is derived from its match and epoch, so that a job that exists is not added again. */
export function jobId(job: MatchJob): string {
  const hex = sha256Hex(jobKey(job));
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}
