import type { Clock } from "#shared/lib/clock.ts";
import { jobKey, type MatchJob, type QueueStats } from "../../match-queue.ts";

/** Time at the server. */
export type ModelTime = Pick<Clock, "now" | "monotonic" | "after">;

/** A manager that takes jobs. */
export interface JobTaker {
  /** Called when there may be waiting jobs. */
  onJobs(): void;
}

interface Held {
  readonly job: MatchJob;
  readonly taker: JobTaker;
  /** The last time at which the manager reported that it works on the job. */
  seenAt: number;
}

/** A job whose manager has not reported for this time is given to another one. */
const LOST_AFTER_MS = 10_000;
const GIVEN_BACK_MS = 3_000;

/** The jobs of a run in the model of the database server. */
export class ModelJobs {
  readonly takers = new Set<JobTaker>();
  readonly #time: ModelTime;
  readonly #waiting = new Map<string, MatchJob>();
  readonly #held = new Map<string, Held>();
  /** The managers that have given jobs back a moment ago. */
  readonly #givenBack = new Map<string, { readonly taker: JobTaker; readonly untilMs: number }>();

  constructor(time: ModelTime) {
    this.#time = time;
  }

  add(jobs: readonly MatchJob[]): void {
    for (const job of jobs) if (!this.#held.has(jobKey(job))) this.#waiting.set(jobKey(job), job);
    if (jobs.length > 0) this.#notify();
  }

  end(jobs: readonly MatchJob[]): void {
    for (const job of jobs) {
      this.#waiting.delete(jobKey(job));
      this.#held.delete(jobKey(job));
    }
    // The managers that have held them learn it when they look for jobs.
    if (jobs.length > 0) this.#notify();
  }

  /** Gives up to `count` waiting jobs to a manager, the oldest first. */
  take(taker: JobTaker, count: number): readonly MatchJob[] {
    this.#takeLost();
    const nowMs = this.#time.monotonic();
    for (const [key, { untilMs }] of this.#givenBack) if (untilMs <= nowMs) this.#givenBack.delete(key);
    const isFree = ([key]: [string, MatchJob]): boolean => this.#givenBack.get(key)?.taker !== taker;
    const taken = [...this.#waiting].filter(isFree).slice(0, Math.max(0, count));
    for (const [key, job] of taken) {
      this.#waiting.delete(key);
      this.#held.set(key, { job, taker, seenAt: this.#time.monotonic() });
    }
    return taken.map(([, job]) => job);
  }

  /** Records that a manager works on jobs. Returns those that it no longer holds. */
  keep(taker: JobTaker, jobs: readonly MatchJob[]): readonly MatchJob[] {
    return jobs.filter((job) => {
      const held = this.#held.get(jobKey(job));
      if (held?.taker !== taker) return true;
      held.seenAt = this.#time.monotonic();
      return false;
    });
  }

  /** Takes jobs of a manager back. For a moment only other managers can take them, where those of PostgreSQL wait for a random time. */
  giveBack(taker: JobTaker, jobs: readonly MatchJob[]): void {
    const untilMs = this.#time.monotonic() + GIVEN_BACK_MS;
    for (const job of jobs) {
      const held = this.#held.get(jobKey(job));
      if (held?.taker !== taker) continue;
      this.#giveBack(jobKey(job), held);
      this.#givenBack.set(jobKey(job), { taker, untilMs });
    }
    this.#notify();
  }

  /** Takes all jobs of a manager back. */
  giveBackAll(taker: JobTaker): void {
    for (const [key, held] of this.#held) if (held.taker === taker) this.#giveBack(key, held);
    this.#notify();
  }

  stats(): QueueStats {
    return { waiting: this.#waiting.size, held: this.#held.size };
  }

  #takeLost(): void {
    for (const [key, held] of this.#held) {
      if (this.#time.monotonic() - held.seenAt >= LOST_AFTER_MS) this.#giveBack(key, held);
    }
  }

  #giveBack(key: string, { job }: Held): void {
    this.#held.delete(key);
    this.#waiting.set(key, job);
  }

  #notify(): void {
    for (const taker of this.takers) taker.onJobs();
  }
}
