import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "#shared/lib/clock.ts";
import { inReadTransaction, openSqlite } from "#shared/store/sqlite.ts";
import { localWriter, noWriter } from "#shared/store/writer.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { loadState } from "../store/manager-state.ts";
import { MANAGER_SCHEMA, type ManagerStore, managerStore, type SessionLog } from "../store/manager-store.ts";
import { openLedger } from "../store/store-ledger.ts";

const fileOf = (dataFolder: string): string => join(dataFolder, "league-manager.sqlite");

/** Reads the file of a manager. The manager may run. */
async function reading<T>(dataFolder: string, read: (store: ManagerStore) => Promise<T>): Promise<T> {
  const db = new DatabaseSync(fileOf(dataFolder), { readOnly: true, timeout: 5_000 });
  try {
    return await inReadTransaction(db, () => read(managerStore(db, noWriter)));
  } finally {
    db.close();
  }
}

/** The state that a manager has committed. */
export const storedState = (dataFolder: string, leagueIds: readonly string[]): Promise<ManagerState> =>
  reading(dataFolder, async (store) => (await loadState(store, leagueIds)).state);

/** Returns the session log of a recorded match; rejects if there is none. */
export async function sessionLog(dataFolder: string, leagueId: string, matchId: string): Promise<SessionLog> {
  const found = await reading(dataFolder, (store) => store.sessionLogOf(leagueId, matchId));
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
  const loaded = await loadState(store, leagueIds);
  const decided = await openLedger({ store, loaded, clock: systemClock, leagueIds, onFatal: () => {} }).execute(decide);
  await store.close();
  db.close();
  if (!decided.ok) throw new Error(decided.error.message);
}
