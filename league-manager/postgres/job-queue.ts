import type { Pool } from "pg";
import { type Db, type Job, PgBoss, type QueuePolicy } from "pg-boss";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { inTransaction, LostCommit, openPostgres, type Postgres } from "#shared/store/postgres/connection.ts";
import { jobKey, type MatchJob, type MatchQueue, type QueueWorker } from "../match-queue.ts";
import { type RunTransaction, transactionOn } from "./run-transaction.ts";

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
    db: databaseOf(postgres),
    migrate: false,
    createSchema: false,
    schedule: false,
    superviseIntervalSeconds: MONITOR_SECONDS,
    monitorIntervalSeconds: MONITOR_SECONDS,
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

/** The names of the queues in pg-boss: that of the jobs, and that of the dead jobs. */
export const MATCHES = "matches";
export const LOST_MATCHES = "lost_matches";

/** The time after which the job of a manager that no longer answers is given to another one. pg-boss allows no less. */
const HEARTBEAT_SECONDS = 10;
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
const databaseOf = ({ pool }: Postgres<unknown>) => ({
  executeSql: (text: string, values?: unknown[]) => pool.query(text, values),
});

/** Returns the id of a job, a UUID that is derived from its match and epoch, so that a job that exists is not added again. */
function jobId(job: MatchJob): string {
  const hex = sha256Hex(jobKey(job));
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

/** The number of jobs that one statement takes. It is small, so that managers that look for jobs at the same time get about the same number. */
const BATCH = 8;
/** The interval of the search for jobs that were not added by a commit, e.g. those that another manager has given back. */
const LOOK_EVERY_MS = 1_000;
const CONFIRM_EVERY_MS = 3_000;
/** A job that was not confirmed for this time is lost: pg-boss will soon give it to another manager. */
const LOST_AFTER_MS = HEARTBEAT_SECONDS * 1_000 - 1_000;

/** A job that was given back waits for a random time, so that not always the same manager takes it first. */
const WAIT_MS = { min: 200, max: 2_200 };

/** The answer of pg-boss: the ids of the jobs that this manager still holds. The types of pg-boss do not declare it. */
const Settled = z.object({ settled: z.array(z.string()) });

/** Opens a transaction and changes several jobs in it. */
type ChangeJobs = <T>(change: (db: Db) => Promise<T>) => Promise<T>;

interface WorkerOptions {
  readonly boss: PgBoss;
  readonly changeJobs: ChangeJobs;
  readonly clock: Pick<Clock, "every" | "monotonic">;
  readonly onError: (thrown: unknown) => void;
  readonly slots: () => number;
  readonly handler: (job: MatchJob, held: AbortSignal) => void;
}

interface HeldJob {
  readonly id: string;
  readonly data: MatchJob;
  /** The number of the attempt in pg-boss. A statement with it has no effect on a later attempt, which another manager may hold. */
  readonly retryCount: number;
  readonly lost: AbortController;
  confirmedAtMs: number;
}

/** Takes jobs in batches, confirms all held jobs in one statement, and reports the jobs that this manager has lost. */
function workOn(options: WorkerOptions): QueueWorker {
  const worker = new JobWorker(options);
  worker.start();
  return { wake: () => worker.wake(), giveBack: (jobs) => worker.giveBack(jobs), stop: () => worker.stop() };
}

class JobWorker {
  readonly #options: WorkerOptions;
  readonly #held = new Map<string, HeldJob>();
  readonly #timers: (() => void)[] = [];
  #looking: Promise<void> | null = null;
  #confirming: Promise<void> | null = null;
  #givingBack: Promise<void> = Promise.resolve();
  #isWoken = false;
  #isStopped = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock } = this.#options;
    this.#timers.push(
      clock.every(LOOK_EVERY_MS, () => this.wake()),
      clock.every(CONFIRM_EVERY_MS, () => this.#confirm()),
    );
    this.wake();
  }

  /** Looks for jobs now. A call during a search causes another search after it. */
  wake(): void {
    this.#isWoken = true;
    if (this.#looking || this.#isStopped) return;
    this.#looking = this.#look().finally(() => {
      this.#looking = null;
    });
  }

  giveBack(jobs: readonly MatchJob[]): void {
    const held = jobs.flatMap((job) => this.#held.get(jobId(job)) ?? []);
    for (const job of held) this.#lose(job);
    this.#givingBack = this.#givingBack.then(() => this.#addAgain(held)).catch(this.#options.onError);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const cancel of this.#timers) cancel();
    await Promise.all([this.#looking, this.#confirming, this.#givingBack]);
    const held = [...this.#held.values()];
    for (const job of held) this.#lose(job);
    if (held.length === 0) return;
    // pg-boss gives a failed job to the next manager at once.
    const { boss, changeJobs, onError } = this.#options;
    await changeJobs((db) => boss.fail(MATCHES, held, undefined, { db })).catch(onError);
  }

  async #look(): Promise<void> {
    const { boss, clock, slots, handler, onError } = this.#options;
    try {
      while (this.#isWoken && !this.#isStopped) {
        this.#isWoken = false;
        const batchSize = Math.min(BATCH, slots());
        if (batchSize < 1) continue;
        const confirmedAtMs = clock.monotonic();
        const jobs = await boss.fetch<MatchJob>(MATCHES, { batchSize });
        for (const { id, retryCount, data } of jobs) {
          const job = { id, data, retryCount, lost: new AbortController(), confirmedAtMs };
          this.#held.set(id, job);
          handler(data, job.lost.signal);
        }
        if (jobs.length === batchSize) this.#isWoken = true;
      }
    } catch (thrown) {
      onError(thrown);
    }
  }

  /** Adds held jobs again, because pg-boss counts a job that has failed as lost. A job that another manager holds or that has ended does not change. */
  async #addAgain(jobs: readonly HeldJob[]): Promise<void> {
    const { boss, changeJobs, clock } = this.#options;
    if (jobs.length === 0) return;
    const waitMs = createRandom(`${clock.monotonic()}`).int(WAIT_MS.min, WAIT_MS.max);
    await changeJobs(async (db) => {
      const { settled } = Settled.parse(await boss.deleteJob(MATCHES, [...jobs], { db }));
      const removed = new Set(settled);
      const rows = jobs.filter(({ id }) => removed.has(id)).map(({ id, data }) => ({ id, data }));
      if (rows.length === 0) return;
      await boss.insert(
        MATCHES,
        rows.map((row) => ({ ...row, startAfter: `${waitMs} milliseconds` })),
        { db },
      );
    });
  }

  #confirm(): void {
    for (const job of this.#held.values()) {
      if (this.#options.clock.monotonic() - job.confirmedAtMs > LOST_AFTER_MS) this.#lose(job);
    }
    if (this.#confirming || this.#held.size === 0) return;
    this.#confirming = this.#confirmAll([...this.#held.values()]).finally(() => {
      this.#confirming = null;
    });
  }

  async #confirmAll(jobs: readonly HeldJob[]): Promise<void> {
    const { boss, changeJobs, clock, onError } = this.#options;
    const startedAtMs = clock.monotonic();
    try {
      const { settled } = Settled.parse(await changeJobs((db) => boss.touch(MATCHES, [...jobs], { db })));
      const confirmed = new Set(settled);
      for (const job of jobs) {
        if (confirmed.has(job.id)) job.confirmedAtMs = startedAtMs;
        else this.#lose(job);
      }
    } catch (thrown) {
      onError(thrown);
    }
  }

  #lose(job: HeldJob): void {
    if (this.#held.get(job.id) === job) this.#held.delete(job.id);
    job.lost.abort();
  }
}

const LOOK_FOR_DEAD_EVERY_MS = 5_000;
const DEAD_JOBS_BATCH = 100;

interface DeadJobsOptions {
  readonly boss: PgBoss;
  readonly clock: Pick<Clock, "every">;
  readonly onError: (thrown: unknown) => void;
}

/** Reports dead jobs, which too many managers have lost. Each one is reported to one manager at a time, until a manager has handled it. */
class DeadJobs {
  readonly #options: DeadJobsOptions;
  readonly #listeners = new Set<(job: MatchJob) => Promise<void>>();
  readonly #cancel: () => void;
  #looking: Promise<void> | null = null;

  constructor(options: DeadJobsOptions) {
    this.#options = options;
    this.#cancel = options.clock.every(LOOK_FOR_DEAD_EVERY_MS, () => this.#look());
  }

  onDead(listener: (job: MatchJob) => Promise<void>): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async stop(): Promise<void> {
    this.#cancel();
    await this.#looking;
  }

  #look(): void {
    if (this.#looking || this.#listeners.size === 0) return;
    this.#looking = this.#reportAll()
      .catch(this.#options.onError)
      .finally(() => {
        this.#looking = null;
      });
  }

  async #reportAll(): Promise<void> {
    const { boss, onError } = this.#options;
    const jobs = await boss.fetch<MatchJob>(LOST_MATCHES, { batchSize: DEAD_JOBS_BATCH });
    for (const job of jobs) await this.#report(job).catch(onError);
  }

  /** Completes a job after its report. A job that was completed first would be lost if this manager ended before the report. */
  async #report(job: Job<MatchJob>): Promise<void> {
    await Promise.all([...this.#listeners].map((listener) => listener(job.data)));
    await this.#options.boss.complete(LOST_MATCHES, job.id);
  }
}
