import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { EXIT, StartError } from "#shared/runtime/exit.ts";
import { hasFailed } from "../../run-folder.ts";

/**
 * The store of the manager in a folder: of the run or served league that is kept there, or of the newest run in a data folder. Throws StartError
 * if there is none.
 */
export function findStore(folder: string): string {
  const candidates = [folder, ...runsIn(join(folder, "runs")).filter((run) => !hasFailed(run))];
  const stores = candidates.map((one) => join(one, "league-manager.sqlite")).filter(existsSync);
  const [found] = stores.toSorted((a, b) => writtenAt(b) - writtenAt(a));
  if (!found)
    throw new StartError(`no league in ${folder}: give a folder of data/runs, or the data folder itself`, EXIT.failed);
  return found;
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
