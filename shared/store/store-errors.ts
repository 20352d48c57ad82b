/** SQLite's result codes after which every other statement would fail too: read-only, I/O error, corrupt, full, cannot open. */
const BROKEN = new Set([8, 10, 11, 13, 14]);
const BUSY = 5;

const codeOf = (thrown: unknown): number =>
  thrown instanceof Error ? Number((thrown as { errcode?: unknown }).errcode) & 0xff : 0; // without the extended code

/** Whether an error of SQLite means that its file can no longer be read or written. */
export const isBroken = (thrown: unknown): thrown is Error => BROKEN.has(codeOf(thrown));

/** Whether another process had the file locked for longer than SQLite waits. */
export const isBusy = (thrown: unknown): thrown is Error => codeOf(thrown) === BUSY;

/** Nothing was written, because another process had the file locked. The caller may try again. */
export class StoreBusy extends Error {
  override readonly name = "StoreBusy";
}

/** An event of a log cannot be read, or cannot follow those before it. */
export class UnusableEvent extends Error {
  /** `seq` is the event's sequence number, which begins at 0. */
  constructor(stream: string, seq: number, why: string) {
    super(`event ${seq + 1} of ${stream} cannot follow: ${why}`);
    this.name = "UnusableEvent";
  }
}
