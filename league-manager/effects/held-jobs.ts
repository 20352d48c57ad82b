import type { Clock } from "#shared/lib/clock.ts";
import { matchOf } from "../league/evolve.ts";
import type { League, Match } from "../league/league.ts";
import type { OpenWork } from "../league/open-work.ts";
import type { Commit, Ledger } from "../ledger.ts";
import { isOpenJob, type JobSource, jobChanges, type MatchJob, openJobs, type QueueWorker } from "../match-queue.ts";
import { type Failures, Tasks } from "./effects-context.ts";

const RETRY_MS = 1_000;
const GIVE_BACK_EVERY_MS = 5_000;
/** The number of jobs that are given back at once by a manager that can take other jobs, so that jobs that no manager can play occupy the queue little. */
const MAX_GIVEN_BACK = 64;

/** The choice of jobs of a manager. */
interface Choice {
  /** The number of further jobs that it can take. `waiting` are the matches that it holds and that are not assigned. */
  slots(waiting: Iterable<readonly [League, Match]>): number;
  /** Returns a function that determines whether it keeps the job of a match. */
  keeps(): (league: League, match: Match) => boolean;
}

/** The choice of the only manager of a run. */
export const ALL_JOBS: Choice = { slots: () => Number.POSITIVE_INFINITY, keeps: () => () => true };

interface HeldJobsOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly failures: Failures;
  readonly queue: JobSource;
  /** Whether the ledger does not change the jobs in its transactions, so that they are changed after each commit. */
  readonly isFedByCommits: boolean;
  /** Called when this manager has got or lost a job. */
  readonly onChange: () => void;
}

/** The matches that the queue has given to this manager: it assigns them, hands them over and takes them from referees that do not complete them. */
export class HeldJobs {
  readonly #options: HeldJobsOptions;
  /** By league and match. A match has one open job. */
  readonly #held = new Map<string, Map<string, MatchJob>>();
  readonly #tasks = new Tasks();
  readonly #cancellations: (() => void)[] = [];
  #worker: QueueWorker | null = null;

  constructor(options: HeldJobsOptions) {
    this.#options = options;
  }

  /** Starts to take jobs. Those of unknown leagues and those that the choice does not keep are given back later. */
  start(choice: Choice): void {
    const slots = (): number => choice.slots(this.#unassigned());
    const { ledger, queue, clock } = this.#options;
    this.#cancellations.push(
      ledger.onCommit((commit) => this.#onCommit(commit)),
      queue.onDead((job) => this.#onDead(job)),
      clock.every(GIVE_BACK_EVERY_MS, () =>
        this.#giveBack(choice.keeps(), slots() > 0 ? MAX_GIVEN_BACK : Number.POSITIVE_INFINITY),
      ),
    );
    this.#worker = queue.work(slots, (job, held) => this.#onJob(job, held));
    // Nothing else adds the jobs of a database that was restored, or those of a run with one manager.
    this.#addOpenJobs();
  }

  /** Looks for jobs, because this manager can take more. */
  wake(): void {
    this.#worker?.wake();
  }

  holds({ leagueId, matchId, epoch }: MatchJob): boolean {
    return this.#held.get(leagueId)?.get(matchId)?.epoch === epoch;
  }

  /** The matches of held jobs that are not assigned, with their leagues. */
  *#unassigned(): Iterable<readonly [League, Match]> {
    for (const [leagueId, jobs] of this.#held) {
      const league = this.#options.ledger.state.leagues.get(leagueId);
      if (!league) continue;
      for (const { matchId, epoch } of jobs.values()) {
        const match = matchOf(league, matchId);
        if (match?.status === "scheduled" && match.epoch === epoch) yield [league, match];
      }
    }
  }

  /** The work of a league with only the matches of held jobs. */
  workOf({ leagueId }: League, work: OpenWork): OpenWork {
    if (this.#options.isFedByCommits) return work;
    const unassigned = new Map<string, Match>();
    const assigned = new Map<string, Match>();
    for (const { matchId, epoch } of this.#held.get(leagueId)?.values() ?? []) {
      const match = work.unassigned.get(matchId) ?? work.assigned.get(matchId);
      if (match?.epoch === epoch) (match.status === "assigned" ? assigned : unassigned).set(matchId, match);
    }
    return { ...work, unassigned, assigned };
  }

  /** Gives the held jobs back. */
  async stop(): Promise<void> {
    for (const cancel of this.#cancellations) cancel();
    await Promise.all([this.#tasks.stop(), this.#worker?.stop()]);
  }

  #onJob(job: MatchJob, held: AbortSignal): void {
    const { ledger, queue, onChange } = this.#options;
    const league = ledger.state.leagues.get(job.leagueId);
    const match = league && matchOf(league, job.matchId);
    const ofLeague = this.#held.get(job.leagueId) ?? new Map<string, MatchJob>();
    // Another manager that starts may add an ended job again, because it has read the run before the job ended.
    const isOver = (ofLeague.get(job.matchId)?.epoch ?? 0) > job.epoch;
    // An unknown match or a later epoch belongs to a commit that this manager has not read yet. An unknown league is not in its config.
    if (isOver || (match && (match.epoch > job.epoch || match.status === "completed"))) {
      this.#track(queue.complete(null, [job]));
      return;
    }
    this.#held.set(job.leagueId, ofLeague);
    ofLeague.set(job.matchId, job);
    if (!this.#options.isFedByCommits) held.addEventListener("abort", () => this.#remove(job), { once: true });
    onChange();
  }

  #remove(job: MatchJob): void {
    if (!this.holds(job)) return;
    this.#held.get(job.leagueId)?.delete(job.matchId);
    this.#options.onChange();
  }

  /** Gives jobs back that another manager may be able to play. */
  #giveBack(keeps: ReturnType<Choice["keeps"]>, most: number): void {
    const isKept = ({ leagueId, matchId, epoch }: MatchJob): boolean => {
      const league = this.#options.ledger.state.leagues.get(leagueId);
      const match = league && matchOf(league, matchId);
      // Another epoch belongs to a commit that this manager has not read yet.
      return league !== undefined && (match?.epoch !== epoch || keeps(league, match));
    };
    const held = [...this.#held.values()].flatMap((jobs) => [...jobs.values()]);
    const jobs = held.filter((job) => !isKept(job)).slice(0, most);
    if (jobs.length > 0) this.#worker?.giveBack(jobs);
  }

  #onCommit({ events, state }: Commit): void {
    const { queue, isFedByCommits } = this.#options;
    const { added, ended } = jobChanges(events, state);
    for (const job of ended) this.#remove(job);
    if (added.length + ended.length === 0) return;
    if (isFedByCommits) {
      this.#track(queue.complete(null, ended));
      this.#track(queue.enqueue(null, added));
    } else this.wake();
  }

  #track(change: Promise<void>): void {
    change.catch((thrown) => this.#options.failures.other(thrown, "jobs could not be changed"));
  }

  /** Adds a job again that too many managers have lost, if its match is still open. */
  async #onDead(job: MatchJob): Promise<void> {
    const { ledger, queue } = this.#options;
    if (isOpenJob(ledger.state.leagues.get(job.leagueId), job)) await queue.enqueue(null, [job]);
  }

  /** Adds the jobs of all open matches, and tries again while the database does not answer. */
  #addOpenJobs(): void {
    const { ledger, queue, clock, failures } = this.#options;
    this.#tasks.start("open", async (signal) => {
      while (!signal.aborted) {
        try {
          return await queue.enqueue(null, openJobs(ledger.state));
        } catch (thrown) {
          failures.other(thrown, "jobs could not be added");
          await clock.pause(RETRY_MS, signal);
        }
      }
    });
  }
}
