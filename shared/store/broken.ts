/** SQLite's result codes with which no other statement would fare better: read-only, I/O error, corrupt, full, cannot open. */
const BROKEN = new Set([8, 10, 11, 13, 14]);

/** Whether an error of SQLite means that its file can no longer be read or written. */
export const isBroken = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && BROKEN.has(Number((thrown as { errcode?: unknown }).errcode) & 0xff); // without the extended code
