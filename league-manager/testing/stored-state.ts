import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "#shared/lib/clock.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { localWriter, noWriter } from "#shared/store/writer.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { openLedger } from "../store/ledger.ts";
import { loadState } from "../store/load-state.ts";
import { type ManagerStore, managerStore, type SessionLog } from "../store/manager-store.ts";
import { MANAGER_SCHEMA } from "../store/schema.ts";

const fileOf = (dataFolder: string): string => join(dataFolder, "league-manager.sqlite");

/** Reads the file of a manager. The manager may run. */
function reading<T>(dataFolder: string, read: (store: ManagerStore) => T): T {
  const db = new DatabaseSync(fileOf(dataFolder), { readOnly: true, timeout: 5_000 });
  try {
    return read(managerStore(db, noWriter));
  } finally {
    db.close();
  }
}

/** The state that a manager has committed. */
export const storedState = (dataFolder: string, leagueIds: readonly string[]): ManagerState =>
  reading(dataFolder, (store) => loadState(store, leagueIds).state);

/** Returns the session log of a recorded match; throws if there is none. */
export function sessionLog(dataFolder: string, leagueId: string, matchId: string): SessionLog {
  const found = reading(dataFolder, (store) => store.sessionLogOf(leagueId, matchId));
  if (!found) throw new Error(`${leagueId}/${matchId} has no session log`);
  return found;
}

/** Commits a decision to the file of a manager, which must not run. */
export async function changeStoredState(
  dataFolder: string,
  leagueIds: readonly string[],
  decide: Decide<unknown>,
): Promise<void> {
  const db = openSqlite(fileOf(dataFolder), MANAGER_SCHEMA);
  const store = managerStore(db, localWriter(db, systemClock));
  const loaded = loadState(store, leagueIds);
  const decided = await openLedger({ store, loaded, clock: systemClock, leagueIds, onFatal: () => {} }).execute(decide);
  await store.close();
  db.close();
  if (!decided.ok) throw new Error(decided.error.message);
}
