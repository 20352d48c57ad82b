import type { PgBoss } from "pg-boss";
import type { Clock } from "#shared/lib/clock.ts";
import type { MatchJob } from "../queue/match-queue.ts";
import { LOST_MATCHES } from "./job-queue-tables.ts";

const LOOK_EVERY_MS = 5_000;
const BATCH = 100;

interface DeadJobsOptions {
  readonly boss: PgBoss;
  readonly clock: Pick<Clock, "every">;
  readonly onError: (thrown: unknown) => void;
}

/** Reports the jobs that too many managers have lost, each to one manager. */
export class DeadJobs {
  readonly #options: DeadJobsOptions;
  readonly #listeners = new Set<(job: MatchJob) => void>();
  readonly #cancel: () => void;
  #isLooking = false;

  constructor(options: DeadJobsOptions) {
    this.#options = options;
    this.#cancel = options.clock.every(LOOK_EVERY_MS, () => void this.#look());
  }

  onDead(listener: (job: MatchJob) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  stop(): void {
    this.#cancel();
  }

  async #look(): Promise<void> {
    if (this.#isLooking || this.#listeners.size === 0) return;
    this.#isLooking = true;
    const { boss, onError } = this.#options;
    try {
      const jobs = await boss.fetch<MatchJob>(LOST_MATCHES, { batchSize: BATCH });
      for (const { data } of jobs) for (const listener of this.#listeners) listener(data);
      if (jobs.length > 0) await boss.complete(LOST_MATCHES, jobs);
    } catch (thrown) {
      onError(thrown);
    } finally {
      this.#isLooking = false;
    }
  }
}
