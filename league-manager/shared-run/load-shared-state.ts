import { type Loaded, loadState } from "../store/load-state.ts";
import type { ManagerStore } from "../store/manager-store.ts";
import type { RunDatabase } from "./run-database.ts";

/** A number above those of all commits. A read of the commits after it returns the number of the newest commit and no events. */
const AFTER_ALL = 2 ** 31 - 1;

/**
 * Loads the state of a run that other managers change meanwhile. The state has the events of all commits up to `number`, and perhaps some of later ones,
 * which the ledger skips when it reads the later commits.
 */
export async function loadSharedState(
  database: ManagerStore & Pick<RunDatabase, "commitsAfter">,
  leagueIds: readonly string[],
): Promise<Loaded & { readonly number: number }> {
  const { number } = await database.commitsAfter(AFTER_ALL);
  return { ...(await loadState(database, leagueIds)), number };
}
