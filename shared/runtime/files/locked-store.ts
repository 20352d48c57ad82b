import type { Clock } from "../../lib/clock.ts";
import { lockFile, mismatchedTable, openSqlite } from "../../store/sqlite.ts";
import { StartError, type StoreLost } from "../process/exit.ts";
import { storeFault, watchStoreFile } from "./store-file.ts";

/** Thrown if another process has locked a database file. */
export class StoreInUse extends StartError {}

/**
 * Opens an agent's database file and locks it for this process until it is closed. Throws a StartError if another
 * process has locked it, if it cannot be read, or if it has the tables of another version of this program. Calls
 * `onLost` if the file is deleted or replaced while it is open.
 */
export function openLockedStore(file: string, schema: string, clock: Clock, onLost: (lost: StoreLost) => void) {
  const lock = lockStore(file);
  if (!lock) throw new StoreInUse(`${file} is in use by another process`);
  try {
    const db = openMatchingTables(file, schema);
    const watched = watchStoreFile(file, clock, onLost);
    return {
      db,
      causeOf: watched.causeOf,
      close(): void {
        watched.end();
        db.close();
        lock.release();
      },
    };
  } catch (thrown) {
    lock.release();
    throw storeFault(file, thrown);
  }
}

/** Locks a database file as `lockFile` does. Throws a StartError if the lock cannot be created. */
export function lockStore(file: string, waitMs?: number): ReturnType<typeof lockFile> {
  try {
    return lockFile(file, waitMs);
  } catch (thrown) {
    throw storeFault(file, thrown);
  }
}

/** Returns whether another process, or another store of this process, has locked a database file. */
export function isInUse(file: string): boolean {
  const lock = lockStore(file, 0);
  lock?.release();
  return lock === null;
}

function openMatchingTables(file: string, schema: string) {
  const mismatched = mismatchedTable(file, schema);
  if (mismatched === null) return openSqlite(file, schema);
  const why = `its table ${mismatched} has different columns`;
  throw new StartError(
    `${file} was made by another version of this program (${why}); move it away, or continue with that version`,
  );
}
