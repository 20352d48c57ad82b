import { Unavailable } from "../lib/unavailable.ts";

/**
 * The result codes of SQLite after which all other statements would fail too: read-only, I/O error, corrupt, full,
 * cannot open.
 */
const BROKEN = new Set([8, 10, 11, 13, 14]);
const BUSY = 5;
const READ_ONLY = 8;
/** The file was moved or deleted. */
const READ_ONLY_MOVED = 1032;
const FULL = 13;
/** A write failed, e.g. because a quota is used up, or the index of the write-ahead log could not be enlarged. */
const FAILED_WRITES = new Set([778, 4874]);

const codeOf = (thrown: unknown): number =>
  thrown instanceof Error ? Number((thrown as { errcode?: unknown }).errcode) & 0xff : 0; // The low byte is the primary result code.

/** Returns whether an error of SQLite means that its file can no longer be read or written. */
export const isBroken = (thrown: unknown): thrown is Error => BROKEN.has(codeOf(thrown));

/**
 * Returns why a file cannot be written, if an error of SQLite means that a transaction was rolled back completely and may succeed later; else null. A
 * failed sync is not among these errors: SQLite may then have written the transaction.
 */
export function unwritableCause(thrown: unknown): string | null {
  const extended = thrown instanceof Error ? Number((thrown as { errcode?: unknown }).errcode) : 0;
  if (FAILED_WRITES.has(extended)) return "the disk reports an error, or a quota is used up";
  if (codeOf(thrown) === FULL) return "the disk is full";
  return codeOf(thrown) === READ_ONLY && extended !== READ_ONLY_MOVED ? "it is read-only" : null;
}

/** Returns whether an error of SQLite means that another process has locked the file for longer than SQLite waits. */
export const isBusy = (thrown: unknown): thrown is Error => codeOf(thrown) === BUSY;

/**
 * Thrown if the store did not answer in time. Nothing was written to a file, which another process had locked. A commit to a PostgreSQL database may
 * have been stored, if the connection was lost before its answer. The caller may try again: a repeated command is decided on the state that is stored.
 */
export class StoreBusy extends Unavailable {
  override readonly name = "StoreBusy";
}

/** Thrown if the data could not be written, and nothing of it was. The caller may try again. */
export class StoreUnwritable extends Unavailable {
  override readonly name = "StoreUnwritable";

  /** `why` is the result of `unwritableCause`. */
  constructor(why: string) {
    super(`the data cannot be written: ${why}`);
  }
}

/** Thrown if an event of a log cannot be parsed or cannot follow the preceding events. */
export class UnusableEvent extends Error {
  /** `seq` is the event's sequence number, which begins at 0. */
  constructor(stream: string, seq: number, why: string) {
    super(`event ${seq + 1} of ${stream} cannot follow: ${why}`);
    this.name = "UnusableEvent";
  }
}
