import type { Config } from "#shared/runtime/config.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { noWriter } from "#shared/store/writer.ts";
import { loadState } from "../store/load-state.ts";
import { managerStore } from "../store/manager-store.ts";
import { MANAGER_SCHEMA } from "../store/schema.ts";
import { type ResultsDocument, resultsDocument } from "./document.ts";
import { createProjections } from "./projections.ts";

/** The results document from the file of a manager that has stopped. */
export function keptDocument(config: Config, storeFile: string): ResultsDocument {
  const db = openSqlite(storeFile, MANAGER_SCHEMA);
  try {
    const leagueIds = config.leagues.map(({ league_id }) => league_id);
    const projections = createProjections(loadState(managerStore(db, noWriter), leagueIds));
    return resultsDocument(projections.leagues(), projections.standings);
  } finally {
    db.close();
  }
}
