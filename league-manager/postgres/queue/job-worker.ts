import type { Db, PgBoss } from "pg-boss";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { createRandom } from "#shared/lib/rng.ts";
import type { MatchJob, QueueWorker } from "../../queue/match-queue.ts";
import { HEARTBEAT_SECONDS, jobId, MATCHES } from "./job-queue-tables.ts";

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
export type ChangeJobs = <T>(change: (db: Db) => Promise<T>) => Promise<T>;

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
export function workOn(options: WorkerOptions): QueueWorker {
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
