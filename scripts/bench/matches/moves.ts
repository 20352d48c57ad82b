import { openSqlite } from "#shared/store/sqlite.ts";

/** The number of moves that a referee has committed to its file. */
export interface MoveCount {
  (): number;
  close(): void;
}

/** Counts moves in the file of a referee. */
export function moveCount(file: string): MoveCount {
  const db = openSqlite(file, "");
  // Rows are never deleted, so the last rowid is the number of rows. One row of each session is not a move.
  const count = db.prepare(
    "SELECT (SELECT coalesce(max(rowid), 0) FROM log) - (SELECT count(*) FROM sessions) AS moves",
  );
  return Object.assign(() => Number(count.get()?.moves), { close: () => db.close() });
}
