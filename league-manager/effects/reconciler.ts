import type { Clock } from "#shared/lib/clock.ts";
import type { League } from "../league/league.ts";
import { advanceWork, type OpenWork, openWork } from "../league/open-work.ts";
import type { Commit, Ledger } from "../ledger.ts";
import type { Duties, Failures, Part } from "./effects-context.ts";
import type { HeldJobs } from "./held-jobs.ts";

/** Some work becomes due without an event, e.g. when an unfit referee may be offered a match. */
const PASS_EVERY_MS = 1_000;

interface ReconcilerOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly failures: Failures;
  readonly duties: Duties;
  readonly jobs: Pick<HeldJobs, "workOf">;
}

/**
 * Passes the open work that is this manager's duty to each part: at the start, after commits and each second. All commits of one turn of the event
 * loop cause one pass. Effects begin only here, so a first start and a start after a kill do not differ.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  #parts: readonly Part[] = [];
  readonly #workByLeague = new Map<string, OpenWork>();
  #isPassScheduled = false;
  /** Passes take place only between `start` and `stop`, because the listener that `start` registers updates `#workByLeague`. */
  #isRunning = false;
  readonly #cancellations: (() => void)[] = [];

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /** Starts the passes, with the first in the next turn of the event loop. */
  start(parts: readonly Part[]): void {
    const { ledger, clock, duties } = this.#options;
    this.#parts = parts;
    this.#isRunning = true;
    this.#cancellations.push(
      duties.onChange(() => this.wake()),
      ledger.onCommit((commit) => this.#onCommit(commit)),
      clock.every(PASS_EVERY_MS, () => this.wake()),
    );
    this.wake();
  }

  /** Schedules a pass for the next turn of the event loop. Before `start` and after `stop` it does nothing. */
  wake(): void {
    if (this.#isPassScheduled || !this.#isRunning) return;
    this.#isPassScheduled = true;
    this.#options.clock.defer(() => this.#pass());
  }

  /** Ends the passes and stops every part. Resolves when all parts have stopped. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    for (const cancel of this.#cancellations) cancel();
    await Promise.all(this.#parts.map((part) => part.stop()));
  }

  #onCommit({ events, state }: Commit): void {
    for (const committed of events) {
      if (committed.kind !== "league") continue;
      const { leagueId, event } = committed;
      const [league, work] = [state.leagues.get(leagueId), this.#workByLeague.get(leagueId)];
      if (!league || !work) continue;
      this.#guard(leagueId, () => this.#workByLeague.set(leagueId, advanceWork(work, league, event)));
    }
    this.wake();
  }

  #pass(): void {
    this.#isPassScheduled = false;
    if (!this.#isRunning) return;
    const { ledger, duties, jobs } = this.#options;
    for (const league of ledger.state.leagues.values()) {
      this.#guard(league.leagueId, () => {
        const work = this.#workOf(league);
        const workOfMatches = jobs.workOf(league, work);
        const isOwner = duties.ownsLeague(league.leagueId);
        for (const part of this.#parts) {
          if (part.duty === "match") part.reconcile(league, workOfMatches);
          else if (isOwner) part.reconcile(league, work);
        }
      });
    }
  }

  #workOf(league: League): OpenWork {
    const work = this.#workByLeague.get(league.leagueId) ?? openWork(league);
    this.#workByLeague.set(league.leagueId, work);
    return work;
  }

  /** Confines an error to its league, whose open work is derived from its state again in the next pass. */
  #guard(leagueId: string, run: () => void): void {
    try {
      run();
    } catch (thrown) {
      this.#workByLeague.delete(leagueId);
      this.#options.failures.ofLeague(leagueId, thrown);
    }
  }
}
