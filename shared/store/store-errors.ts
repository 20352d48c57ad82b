import { Unavailable } from "../lib/unavailable.ts";

/**
 * The result codes of SQLite after which all other statements would fail too: read-only, I/O error, corrupt, full,
 * cannot open.
 */
const BROKEN = new Set([8, 10, 11, 13, 14]);
const BUSY = 5;

const codeOf = (thrown: unknown): number =>
  thrown instanceof Error ? Number((thrown as { errcode?: unknown }).errcode) & 0xff : 0; // The low byte is the primary result code.

/** Returns whether an error of SQLite means that its file can no longer be read or written. */
export const isBroken = (thrown: unknown): thrown is Error => BROKEN.has(codeOf(thrown));

/** Returns whether an error of SQLite means that another process has locked the file for longer than SQLite waits. */
export const isBusy = (thrown: unknown): thrown is Error => codeOf(thrown) === BUSY;

/**
 * Thrown if the store did not answer in time. Nothing was written to a file, which another process had locked. A commit to a PostgreSQL database may
 * have been stored, if the connection was lost before its answer. The caller may try again: a repeated command is decided on the state that is stored.
 */
export class StoreBusy extends Unavailable {
  override readonly name = "StoreBusy";
}

/** Thrown if an event of a log cannot be parsed or cannot follow the preceding events. */
export class UnusableEvent extends Error {
  /** `seq` is the event's sequence number, which begins at 0. */
  constructor(stream: string, seq: number, why: string) {
    super(`event ${seq + 1} of ${stream} cannot follow: ${why}`);
    this.name = "UnusableEvent";
  }
}
