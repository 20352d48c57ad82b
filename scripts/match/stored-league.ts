import { existsSync } from "node:fs";
import { join } from "node:path";
import { openSqlite } from "#shared/store/sqlite.ts";
import { noWriter } from "#shared/store/writer.ts";
import type { League } from "../../league-manager/league/league.ts";
import { loadState } from "../../league-manager/store/load-state.ts";
import { managerStore } from "../../league-manager/store/manager-store.ts";
import { MANAGER_SCHEMA } from "../../league-manager/store/schema.ts";

/** Reads a league from the store of a run; null if it has none. */
export function storedLeague(folder: string, leagueId: string): League | null {
  const file = join(folder, "league-manager.sqlite");
  if (!existsSync(file)) return null;
  const db = openSqlite(file, MANAGER_SCHEMA);
  try {
    return loadState(managerStore(db, noWriter), [leagueId]).state.leagues.get(leagueId) ?? null;
  } finally {
    db.close();
  }
}
