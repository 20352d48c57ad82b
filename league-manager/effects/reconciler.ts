import type { Clock } from "#shared/lib/clock.ts";
import type { League } from "../league/league.ts";
import { advanceWork, type OpenWork, openWork } from "../league/open-work.ts";
import type { Commit, Ledger } from "../ledger.ts";
import type { Failures } from "./failures.ts";
import type { Part } from "./part.ts";

/** Some work becomes due by time alone, e.g. when an unfit referee may be tried again. */
const PASS_EVERY_MS = 1_000;

interface ReconcilerOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly failures: Failures;
}

/**
 * Gives each part the open work of each league: once at the start, after commits and each second. Passes are coalesced: the commits of one turn of
 * the event loop cause one pass. There is no other way in which effects begin, so a first start and a start after a kill are the same.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  #parts: readonly Part[] = [];
  readonly #works = new Map<string, OpenWork>();
  #isAwake = false;
  /** Passes are made between `start` and `stop` only: the index of open work is kept by the listener that `start` registers. */
  #isRunning = false;
  readonly #ends: (() => void)[] = [];

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  start(parts: readonly Part[]): void {
    const { ledger, clock } = this.#options;
    this.#parts = parts;
    this.#isRunning = true;
    this.#ends.push(
      ledger.onCommit((commit) => this.#onCommit(commit)),
      clock.every(PASS_EVERY_MS, () => this.wake()),
    );
    this.wake();
  }

  /** Asks for a pass in the next turn of the event loop. Before `start` and after `stop` it does nothing. */
  wake(): void {
    if (this.#isAwake || !this.#isRunning) return;
    this.#isAwake = true;
    this.#options.clock.defer(() => this.#pass());
  }

  /** Ends the passes and then every part. Resolves when nothing of them runs any more. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    for (const end of this.#ends) end();
    await Promise.all(this.#parts.map((part) => part.stop()));
  }

  #onCommit({ events, state }: Commit): void {
    for (const committed of events) {
      if (committed.kind !== "league") continue;
      const { leagueId, event } = committed;
      const [league, work] = [state.leagues.get(leagueId), this.#works.get(leagueId)];
      if (!league || !work) continue;
      this.#guard(leagueId, () => this.#works.set(leagueId, advanceWork(work, league, event)));
    }
    this.wake();
  }

  #pass(): void {
    this.#isAwake = false;
    if (!this.#isRunning) return;
    for (const league of this.#options.ledger.state.leagues.values()) {
      this.#guard(league.leagueId, () => {
        const work = this.#workOf(league);
        for (const part of this.#parts) part.reconcile(league, work);
      });
    }
  }

  #workOf(league: League): OpenWork {
    const work = this.#works.get(league.leagueId) ?? openWork(league);
    this.#works.set(league.leagueId, work);
    return work;
  }

  /** An error of one league does not stop the others. Its open work is derived anew. */
  #guard(leagueId: string, run: () => void): void {
    try {
      run();
    } catch (thrown) {
      this.#works.delete(leagueId);
      this.#options.failures.ofLeague(leagueId, thrown);
    }
  }
}
