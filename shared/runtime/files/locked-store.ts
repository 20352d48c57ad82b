import type { Clock } from "../../lib/clock.ts";
import { foreignTable, openSqlite, takeFile } from "../../store/sqlite.ts";
import { StartError, type StoreLost } from "../process/exit.ts";
import { storeFault, watchStoreFile } from "./store-file.ts";

export class StoreInUse extends StartError {}

/**
 * Opens an agent's database file and keeps it for this process alone until it is closed. A StartError says that another process has it, that it
 * cannot be read, or that another version of this program made it: its entries would not fit the tables that this one knows. `onLost` is
 * called when the file is deleted or replaced while it is open.
 */
export function openLockedStore(file: string, schema: string, clock: Clock, onLost: (lost: StoreLost) => void) {
  const lock = lockStore(file);
  if (!lock) throw new StoreInUse(`${file} is in use by another process`);
  try {
    const db = openOwnTables(file, schema);
    const stopWatching = watchStoreFile(file, clock, onLost);
    return {
      db,
      close(): void {
        stopWatching();
        db.close();
        lock.release();
      },
    };
  } catch (thrown) {
    lock.release();
    throw storeFault(file, thrown);
  }
}

/** As `takeFile`; a StartError when the lock cannot be made. */
export function lockStore(file: string): ReturnType<typeof takeFile> {
  try {
    return takeFile(file);
  } catch (thrown) {
    throw storeFault(file, thrown);
  }
}

/** Whether another process, or another store of this one, has a database file open by `openLockedStore`. */
export function isInUse(file: string): boolean {
  const lock = lockStore(file);
  lock?.release();
  return lock === null;
}

function openOwnTables(file: string, schema: string) {
  const foreign = foreignTable(file, schema);
  if (foreign === null) return openSqlite(file, schema);
  const why = `its table ${foreign} has other columns`;
  throw new StartError(
    `${file} was made by another version of this program (${why}); move it away, or go on with that version`,
  );
}
