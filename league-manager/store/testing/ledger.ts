import { copyFileSync } from "node:fs";
import { systemClock } from "#shared/lib/clock.ts";
import { err, ok } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import type { Agent, NewAgentEvent } from "../../agents/registered-agent.ts";
import type { NewLeagueEvent } from "../../league/league.ts";
import { AT } from "../../league/testing/leagues.ts";
import type { Decide, Ledger, ManagerState, Write } from "../../ledger.ts";
import { loadState } from "../manager-state.ts";
import { type LedgerStore, MANAGER_SCHEMA, managerStore } from "../manager-store.ts";
import { keepSnapshots, type Snapshots } from "../snapshots.ts";
import { openLedger } from "../store-ledger.ts";

export const LEAGUE_IDS = ["first", "second"];

export interface OpenedLedger {
  readonly db: ReturnType<typeof openSqlite>;
  readonly store: LedgerStore;
  readonly ledger: Ledger;
  readonly snapshots: Snapshots;
  /** The errors that were passed to `onFatal`. */
  readonly fatal: readonly Error[];
  /** The exceptions that were thrown in later turns of the event loop. */
  readonly uncaught: readonly unknown[];
  /** The errors of snapshots that could not be written. */
  readonly snapshotErrors: readonly unknown[];
  /** The number of commits of the ledger. */
  appends(): number;
  /** The reads of streams as "name first-sequence-number". */
  readonly reads: readonly string[];
}

/** Opens a ledger on a file, and records its appends, reads and errors. */
export async function ledgerOn(
  file: string,
  { snapshotAfter = 5_000, leagueIds = LEAGUE_IDS } = {},
): Promise<OpenedLedger> {
  const db = openSqlite(file, MANAGER_SCHEMA);
  const store = managerStore(db, testWriter(db));
  let appends = 0;
  const commit: typeof store.commit = (...args) => {
    appends++;
    return store.commit(...args);
  };
  const reads: string[] = [];
  const fatal: Error[] = [];
  const readEvents: typeof store.readEvents = (stream, from = 0, limit) => {
    reads.push(`${stream} ${from}`);
    return store.readEvents(stream, from, limit);
  };
  const recordingStore = { ...store, commit, readEvents };
  const uncaught: unknown[] = [];
  const defer = (run: () => void): void =>
    systemClock.defer(() => {
      try {
        run();
      } catch (thrown) {
        uncaught.push(thrown);
      }
    });
  const clock = { iso: () => AT, monotonic: systemClock.monotonic, nextTurn: systemClock.nextTurn, defer };
  const loaded = await loadState(recordingStore, leagueIds);
  const ledger = openLedger({ store: recordingStore, loaded, clock, leagueIds, onFatal: (error) => fatal.push(error) });
  const snapshotErrors: unknown[] = [];
  const onError = (thrown: unknown): void => void snapshotErrors.push(thrown);
  const written = loaded.snapshots;
  const snapshots = keepSnapshots({ ledger, store, written, clock: systemClock, afterEvents: snapshotAfter, onError });
  return { db, store, ledger, snapshots, appends: () => appends, reads, fatal, uncaught, snapshotErrors };
}

export const opened = (league_id: string, like?: string): NewLeagueEvent => ({
  type: "opened",
  league_id,
  ...(like !== undefined && { like }),
  run_id: "run",
  game: "rps.v1",
  roles: ["a", "b"],
  options: {},
  format: "round-robin",
  seed_commitment: "c",
});
export const entered = (player_id: string): NewLeagueEvent => ({
  type: "player_entered",
  player_id,
  name_commitment: "n",
});
export const registered = (agent_id: string, kind: Agent["kind"] = "player"): NewAgentEvent => ({
  type: "registered",
  agent_id,
  kind,
  name_commitment: "n",
  game_types: [],
  legal_actions: true,
  round_results: true,
  announcements: true,
  max_concurrent: 0,
  dialect: "native",
});
export const profile = (agentId: string, name = agentId): Write => ({
  type: "profile",
  agentId,
  profile: { name, salt: "s", endpoint: `http://${name}`, tokenHash: `hash of ${agentId}` },
});

export const openLeague =
  (leagueId: string, like?: string): Decide<string> =>
  () =>
    ok({ leagueEvents: [{ leagueId, event: opened(leagueId, like) }], reply: leagueId });

/** Registers the next player with a profile and enters it into a league. Rejects the third player of a league with L002. */
export const enter =
  (leagueId: string): Decide<string> =>
  ({ leagues, agents }) => {
    const entrants = leagues.get(leagueId)?.entrants.size ?? 0;
    if (entrants >= 2) return err(protocolError("L002", "full"));
    const id = `P${agents.size + 1}`;
    return ok({
      leagueEvents: [{ leagueId, event: entered(id) }],
      agentEvents: [{ agentId: id, event: registered(id) }],
      writes: [profile(id)],
      reply: id,
    });
  };

let copies = 0;

/** The state that a process loads from a copy of the current files. */
export async function stateAfterCrash(file: string): Promise<ManagerState> {
  const copy = `${file}.copy-${++copies}`;
  for (const suffix of ["", "-wal"]) copyFileSync(file + suffix, copy + suffix);
  const { ledger, db } = await ledgerOn(copy);
  db.close();
  return ledger.state;
}
