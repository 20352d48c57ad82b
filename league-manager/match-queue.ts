import { matchOf } from "./league/evolve.ts";
import { type League, type Match, roundOf } from "./league/league.ts";
import type { CommittedEvent, ManagerState } from "./ledger.ts";

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

/** The text that identifies a job within its run. */
export const jobKey = ({ leagueId, matchId, epoch }: MatchJob): string => `${leagueId}/${matchId}/${epoch}`;

/** Returns whether a match is to be played under this epoch: its round is opened and it has no result. */
export function isOpenJob(league: League | undefined, { matchId, epoch }: MatchJob): boolean {
  const match = league && matchOf(league, matchId);
  return match ? match.epoch === epoch && isOpen(league, match) : false;
}

/** Returns the jobs of all matches of the opened rounds that have no result. */
export const openJobs = ({ leagues }: Pick<ManagerState, "leagues">): readonly MatchJob[] =>
  [...leagues.values()].flatMap((league) =>
    league.openRounds.flatMap((roundId) => jobsOfRound(league, roundId).filter((job) => isOpenJob(league, job))),
  );

/**
 * Returns the jobs that the events of one commit add and end. `state` is the state after all of them. A job that the same commit adds and ends is in neither
 * list.
 */
export function jobChanges(events: readonly CommittedEvent[], { leagues }: Pick<ManagerState, "leagues">): JobChanges {
  const added = new Map<string, MatchJob>();
  const ended = new Map<string, MatchJob>();
  const add = (job: MatchJob): void => void added.set(jobKey(job), job);
  const addRound = (league: League, roundId: number): void => {
    for (const job of jobsOfRound(league, roundId)) {
      // A match that ended before its round was opened had no job.
      ended.delete(jobKey(job));
      add({ ...job, epoch: 1 });
    }
  };
  const end = (job: MatchJob): void => void (added.delete(jobKey(job)) || ended.set(jobKey(job), job));
  for (const committed of events) {
    const league = committed.kind === "league" && leagues.get(committed.leagueId);
    if (!league) continue;
    const { leagueId, event } = committed;
    switch (event.type) {
      case "round_paired":
        // Its matches become jobs when it is opened, by this event or by a later one.
        if (event.slots === undefined) break;
        addRound(league, event.round_id);
        break;
      case "round_opened":
        addRound(league, event.round_id);
        break;
      case "match_scheduled":
        add({ leagueId, matchId: event.match_id, epoch: 1 });
        break;
      case "match_released":
        end({ leagueId, matchId: event.match_id, epoch: event.epoch });
        add({ leagueId, matchId: event.match_id, epoch: event.epoch + 1 });
        break;
      case "match_completed":
      case "match_aborted":
      case "match_cancelled":
      case "match_annulled": {
        const job = { leagueId, matchId: event.match_id, epoch: event.epoch };
        if (hadJob(league, event)) end(job);
        break;
      }
    }
  }
  return {
    added: [...added.values()].filter((job) => isOpenJob(leagues.get(job.leagueId), job)),
    ended: [...ended.values()],
  };
}

const isOpen = (league: League, { roundId, status }: Match): boolean =>
  status !== "completed" && roundOf(league, roundId)?.isOpened === true;

const jobsOfRound = ({ leagueId, rounds }: League, roundId: number): readonly MatchJob[] =>
  (roundOf({ rounds }, roundId)?.matches ?? []).map(({ matchId, epoch }) => ({ leagueId, matchId, epoch }));

/** Returns whether a match that has ended was in an opened round and had no result before. */
function hadJob(
  league: League,
  event: { readonly match_id: string; readonly match_points?: unknown; readonly type: string },
): boolean {
  const match = matchOf(league, event.match_id);
  const isOpened = match !== null && roundOf(league, match.roundId)?.isOpened === true;
  return isOpened && (event.type !== "match_annulled" || event.match_points === undefined);
}

/** The reason of aborted signals. An abort without a reason creates an error with a stack trace. */
const LOST_REASON = "the job is no longer held";

interface LocalWorker {
  readonly slots: () => number;
  readonly handler: (job: MatchJob, held: AbortSignal) => void;
  /** Aborts the signal of each held job, by key. */
  readonly held: Map<string, { readonly job: MatchJob; readonly lost: AbortController }>;
}

/**
 * The queue of a run with one manager. It is in memory, so the manager enqueues the open jobs at its start. A job is passed on in the same turn of the
 * event loop.
 */
export function localQueue(): MatchQueue<null> {
  const waiting = new Map<string, MatchJob>();
  const workers = new Set<LocalWorker>();
  const isHeld = (key: string): boolean => [...workers].some(({ held }) => held.has(key));
  const passOn = (): void => {
    for (const worker of workers) {
      let free = worker.slots();
      for (const [key, job] of waiting) {
        if (free-- < 1) break;
        const lost = new AbortController();
        waiting.delete(key);
        worker.held.set(key, { job, lost });
        worker.handler(job, lost.signal);
      }
    }
  };
  const work = (slots: LocalWorker["slots"], handler: LocalWorker["handler"]): QueueWorker => {
    const worker: LocalWorker = { slots, handler, held: new Map() };
    workers.add(worker);
    passOn();
    return {
      wake: passOn,
      giveBack(jobs) {
        for (const job of jobs) {
          const key = jobKey(job);
          const held = worker.held.get(key);
          if (!held) continue;
          worker.held.delete(key);
          waiting.set(key, job);
          held.lost.abort(LOST_REASON);
        }
        passOn();
      },
      async stop() {
        workers.delete(worker);
        for (const [key, { job, lost }] of worker.held) {
          waiting.set(key, job);
          lost.abort(LOST_REASON);
        }
        worker.held.clear();
        passOn();
      },
    };
  };
  return {
    async enqueue(_transaction, jobs) {
      for (const job of jobs) {
        const key = jobKey(job);
        if (!isHeld(key)) waiting.set(key, job);
      }
      if (jobs.length > 0) passOn();
    },
    async complete(_transaction, jobs) {
      for (const job of jobs) {
        const key = jobKey(job);
        waiting.delete(key);
        for (const { held } of workers) {
          held.get(key)?.lost.abort(LOST_REASON);
          held.delete(key);
        }
      }
    },
    work,
    // A job is dead if many managers have died with it. This queue ends with its only manager.
    onDead: () => () => {},
    stats: async () => ({
      waiting: waiting.size,
      held: [...workers].reduce((sum, { held }) => sum + held.size, 0),
    }),
  };
}
