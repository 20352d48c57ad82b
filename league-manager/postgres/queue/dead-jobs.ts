import type { Job, PgBoss } from "pg-boss";
import type { Clock } from "#shared/lib/clock.ts";
import type { MatchJob } from "../../queue/match-queue.ts";
import { LOST_MATCHES } from "./job-queue-tables.ts";

const LOOK_FOR_DEAD_EVERY_MS = 5_000;
const DEAD_JOBS_BATCH = 100;

interface DeadJobsOptions {
  readonly boss: PgBoss;
  readonly clock: Pick<Clock, "every">;
  readonly onError: (thrown: unknown) => void;
}

/** Reports dead jobs, which too many managers have lost. Each one is reported to one manager at a time, until a manager has handled it. */
export class DeadJobs {
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
