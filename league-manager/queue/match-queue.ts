/** One attempt at a match, from its assignment to its result. One manager at a time holds the job. */
export interface MatchJob {
  readonly leagueId: string;
  readonly matchId: string;
  readonly epoch: number;
}

/** The jobs that a commit adds and ends. */
export interface JobChanges {
  readonly added: readonly MatchJob[];
  readonly ended: readonly MatchJob[];
}

export interface QueueStats {
  /** Jobs that no manager holds. */
  readonly waiting: number;
  /** Jobs that a manager holds. */
  readonly held: number;
}

/**
 * Distributes the matches of a run among its managers. The queue decides which manager works on a match. The epoch in the log decides whose result
 * counts, so a job that two managers hold for a moment does no harm. Every implementation passes `testing/match-queue.suite.ts`.
 */
export interface MatchQueue<Transaction> {
  /** Adds jobs in the transaction of the events that need them; null: in its own. A job that exists is not added again. */
  enqueue(transaction: Transaction | null, jobs: readonly MatchJob[]): Promise<void>;
  /** Ends jobs in the transaction of the events that end them, whichever manager holds them. */
  complete(transaction: Transaction | null, jobs: readonly MatchJob[]): Promise<void>;
  /**
   * Takes waiting jobs and passes each to `handler`. `slots` returns the number of jobs that the manager can take now. `held` is aborted when this
   * manager no longer holds the job. The job of a manager that has died is passed to another one.
   */
  work(slots: () => number, handler: (job: MatchJob, held: AbortSignal) => void): QueueWorker;
  /**
   * Adds a listener for dead jobs: too many managers have lost them, and the queue passes them to no manager. A dead job is reported again later,
   * perhaps to another manager, if the promise of the listener rejects or the manager ends before it resolves.
   */
  onDead(listener: (job: MatchJob) => Promise<void>): () => void;
  /** Resolves with the numbers of jobs, which may be some seconds old. */
  stats(): Promise<QueueStats>;
}

/** The part of a queue that a manager needs besides the changes in its commits. */
export type JobSource = Pick<MatchQueue<null>, "enqueue" | "complete" | "work" | "onDead" | "stats">;

export interface QueueWorker {
  /** Looks for jobs now, e.g. because a slot has become free. */
  wake(): void;
  /** Gives held jobs back. They wait for up to a few seconds, and any manager can then take them. This does not count as a loss. */
  giveBack(jobs: readonly MatchJob[]): void;
  /** Gives the held jobs back, so that other managers get them at once. Resolves when that is done. */
  stop(): Promise<void>;
}
