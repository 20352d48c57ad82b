import { DatabaseSync } from "node:sqlite";
import type { Config } from "#shared/runtime/config/config.ts";
import { inReadTransaction } from "#shared/store/sqlite.ts";
import { noWriter } from "#shared/store/writer.ts";
import { loadState } from "../store/load-state.ts";
import { managerStore } from "../store/manager-store.ts";
import { type ResultsDocument, resultsDocument } from "./document.ts";
import { createProjections } from "./projections.ts";

/** Reads the results document from the file of a manager. The manager may be running. */
export async function storedDocument(config: Pick<Config, "leagues">, storeFile: string): Promise<ResultsDocument> {
  const db = new DatabaseSync(storeFile, { readOnly: true, timeout: 5_000 });
  try {
    const leagueIds = config.leagues.map(({ league_id }) => league_id);
    const loaded = await inReadTransaction(db, () => loadState(managerStore(db, noWriter), leagueIds));
    return await resultsDocument(createProjections(loaded));
  } finally {
    db.close();
  }
}
