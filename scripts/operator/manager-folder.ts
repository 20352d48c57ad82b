import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isInUse } from "#shared/runtime/files/locked-store.ts";
import { findStore, findStores } from "../archive/export/find-store.ts";

/** The file with the operator token in the folder of a manager. */
export const TOKEN_FILE = "operator-token";
/** The files that a running manager locks: its database, or a name if the run is in a database of several managers. */
const LOCKED_FILES = ["league-manager.sqlite", "league-manager"];

/**
 * Returns the folder of the manager that a data folder means: of the folder itself and of the runs in it, the one whose manager runs. If none runs, it is
 * the folder itself if it has an operator token, else its newest run, as for `league export`.
 */
export function managerFolder(data: string): string {
  const folder = resolve(data);
  const stores = findStores(folder);
  const folders = [folder, ...stores.map(dirname)].filter((one) => existsSync(join(one, TOKEN_FILE)));
  const running = folders.find(hasRunningManager);
  if (running !== undefined) return running;
  return folders.includes(folder) || stores.length === 0 ? folder : dirname(findStore(folder));
}

const hasRunningManager = (folder: string): boolean =>
  LOCKED_FILES.map((name) => join(folder, name)).some((file) => existsSync(`${file}.lock`) && isInUse(file));
