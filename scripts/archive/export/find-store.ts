import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { MANAGER_SCHEMA } from "../../../league-manager/store/schema.ts";
import { hasFailed } from "../../run/run-folder.ts";

/**
 * The store of the manager in a folder: of the run or served league that is kept there, or of the newest run in a data folder. A store in which
 * no league has started is taken only if there is no other: a manager that ends at once leaves one. Throws StartError if there is none.
 */
export function findStore(folder: string): string {
  const candidates = [folder, ...runsIn(join(folder, "runs")).filter((run) => !hasFailed(run))];
  const stores = candidates.map((one) => join(one, "league-manager.sqlite")).filter(existsSync);
  const newest = stores.toSorted((a, b) => writtenAt(b) - writtenAt(a));
  const found = newest.find((store) => newest.length === 1 || hasStartedLeague(store)) ?? newest[0];
  if (!found)
    throw new StartError(`no league in ${folder}: give a folder of data/runs, or the data folder itself`, EXIT.failed);
  return found;
}

/** Whether a league of a store has started. True for a store that cannot be read: the reason is reported when it is exported. */
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

/** When a store or its write-ahead log was last written, in milliseconds. */
const writtenAt = (store: string): number =>
  Math.max(...[store, `${store}-wal`].filter(existsSync).map((file) => statSync(file).mtimeMs));

const runsIn = (folder: string): readonly string[] =>
  existsSync(folder) && statSync(folder).isDirectory()
    ? readdirSync(folder)
        .sort()
        .reverse()
        .map((name) => join(folder, name))
    : [];
