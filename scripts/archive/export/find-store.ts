import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { MANAGER_SCHEMA } from "../../../league-manager/store/manager-store.ts";
import { hasFailed } from "../../run/run-folder.ts";

/**
 * Returns the file of the manager's store in the folder of a run or of `league serve`; in a data folder, the newest store of these and of the runs in
 * it. A store in which no league has started is returned only if no other store has a started league, because a manager that fails at its start
 * leaves such a store. Throws StartError if there is no store.
 */
export function findStore(folder: string): string {
  const newest = findStores(folder).toSorted((a, b) => changedAtMs(b) - changedAtMs(a));
  const found = newest.find((store) => newest.length === 1 || hasStartedLeague(store)) ?? newest[0];
  if (!found)
    throw new StartError(`no league in ${folder}: name a folder of data/runs, or the data folder itself`, EXIT.failed);
  return found;
}

/** Returns the files of all managers' stores in the folder of a run or of `league serve`, or in a data folder, without runs that have failed. */
export const findStores = (folder: string): readonly string[] =>
  [folder, ...runsIn(join(folder, "runs")).filter((run) => !hasFailed(run))]
    .map((candidate) => join(candidate, "league-manager.sqlite"))
    .filter(existsSync);

/** Whether a league of a store has started. True for a store that cannot be read, so that the export reports the reason. */
function hasStartedLeague(store: string): boolean {
  try {
    const db = openSqlite(store, MANAGER_SCHEMA);
    try {
      return db.prepare("SELECT 1 FROM log WHERE type = 'started' LIMIT 1").get() !== undefined;
    } finally {
      db.close();
    }
  } catch {
    return true;
  }
}

/** The time of the last change of a store or its write-ahead log, in milliseconds since 1970. */
const changedAtMs = (store: string): number =>
  Math.max(...[store, `${store}-wal`].filter(existsSync).map((file) => statSync(file).mtimeMs));

/** The folders of the runs in a folder, newest first. */
const runsIn = (folder: string): readonly string[] =>
  existsSync(folder) && statSync(folder).isDirectory()
    ? readdirSync(folder)
        .sort()
        .reverse()
        .map((name) => join(folder, name))
    : [];
