import { messageOf } from "../lib/result.ts";
import { foreignTable, openSqlite, takeFile } from "../store/sqlite.ts";
import { StartError } from "./exit.ts";

export class StoreInUse extends StartError {}

/**
 * Opens an agent's database file and keeps it for this process alone until it is closed. A StartError says that another process has it, that it
 * cannot be read, or that another version of this program made it: its entries would not fit the tables that this one knows.
 */
export function ownStore(file: string, schema: string) {
  const lock = takeFile(file);
  if (!lock) throw new StoreInUse(`${file} is in use by another process`);
  try {
    const db = openOwn(file, schema);
    return {
      db,
      close(): void {
        db.close();
        lock.release();
      },
    };
  } catch (thrown) {
    lock.release();
    throw thrown instanceof StartError ? thrown : new StartError(`cannot open ${file}: ${messageOf(thrown)}`);
  }
}

/** Whether another process, or another store of this one, has a database file open by `ownStore`. */
export function isInUse(file: string): boolean {
  const lock = takeFile(file);
  lock?.release();
  return lock === null;
}

function openOwn(file: string, schema: string) {
  const foreign = foreignTable(file, schema);
  if (foreign === null) return openSqlite(file, schema);
  const why = `its table ${foreign} has other columns`;
  throw new StartError(
    `${file} was made by another version of this program (${why}); move it away, or go on with that version`,
  );
}
