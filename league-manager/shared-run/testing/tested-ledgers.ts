import { expect } from "vitest";
import { isoAt } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import type { Commit, Decide, FollowUps, ManagerState } from "../../ledger.ts";
import { loadState } from "../../store/manager-state.ts";
import { entered, LEAGUE_IDS } from "../../store/testing/ledger.ts";
import { loadSharedState, SharedLedger } from "../shared-ledger.ts";
import type { ModelDatabase } from "./model-database.ts";
import { type ModelRun, modelRun } from "./model-run.ts";

/** A manager of a run in the model of the database. */
export interface TestedManager {
  readonly ledger: SharedLedger;
  readonly database: ModelDatabase;
  readonly commits: readonly Commit[];
  readonly fatal: readonly Error[];
}

interface ManagerOptions {
  readonly leagueIds?: readonly string[];
  readonly followUps?: FollowUps;
  /** How much earlier the dates of this manager are than those of the others. */
  readonly behindMs?: number;
}

/** A run in the model of the database, with managers whose time a test advances. */
export class TestedLedgers {
  readonly clock: ManualClock = manualClock();
  readonly run: ModelRun = modelRun(this.clock);
  readonly #managers: TestedManager[] = [];

  async start({
    leagueIds = LEAGUE_IDS,
    followUps = () => [],
    behindMs = 0,
  }: ManagerOptions = {}): Promise<TestedManager> {
    const { run } = this;
    const clock = { ...this.clock, iso: () => isoAt(this.clock.now() - behindMs) };
    const database = await run.connect();
    const [commits, fatal]: [Commit[], Error[]] = [[], []];
    const loaded = await this.settled(loadSharedState(database, leagueIds));
    const onFatal = (error: Error): void => void fatal.push(error);
    const ledger = new SharedLedger({ database, loaded, clock, ids: systemIds, leagueIds, followUps, onFatal });
    ledger.onCommit((commit) => {
      expect(ledger.state).toBe(commit.state);
      commits.push(commit);
    });
    const manager = { ledger, database, commits, fatal };
    this.#managers.push(manager);
    return manager;
  }

  /** Advances the time until a promise is settled. */
  async settled<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    promise.then(end, end);
    for (let ms = 0; !isOver && ms < 60_000; ms++) await this.clock.advance(1);
    return promise;
  }

  execute<Reply>({ ledger }: TestedManager, decide: Decide<Reply>) {
    return this.settled(ledger.execute(decide));
  }

  /** The state that a new manager would load. */
  async storedState(): Promise<ManagerState> {
    return (await loadState(this.run.server.store, LEAGUE_IDS)).state;
  }

  /** The number of the newest commit. */
  newest(): number {
    return this.run.server.commitsAfter(Number.MAX_SAFE_INTEGER).number;
  }

  async stop(): Promise<void> {
    await this.settled(Promise.all(this.#managers.map(({ ledger }) => ledger.stop())));
    await this.run.close();
  }
}

export const entrantsAt = ({ ledger }: TestedManager, leagueId = "first"): readonly string[] => [
  ...(ledger.state.leagues.get(leagueId)?.entrants.keys() ?? []),
];

/** Enters the next player of a league without a limit. */
export const enterNext =
  (leagueId = "first"): Decide<string> =>
  ({ leagues }) => {
    const id = `P${(leagues.get(leagueId)?.entrants.size ?? 0) + 1}`;
    return ok({ leagueEvents: [{ leagueId, event: entered(id) }], reply: id });
  };
