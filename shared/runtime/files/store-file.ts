import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { z } from "zod";
import type { Clock } from "../../lib/clock.ts";
import { messageOf } from "../../lib/result.ts";
import { OtherFormat } from "../../store/sqlite.ts";
import { StoreUnwritable, UnusableEvent, unwritableCause } from "../../store/store-errors.ts";
import { StartError, StoreLost } from "../process/exit.ts";

const CHECK_INTERVAL_MS = 1_000;
/** SQLite's result codes for a file that may not be written (8) and one that cannot be opened (14). */
const NO_ACCESS = new Set([8, 14]);

/**
 * Returns a StartError with one line about a database file if the file is the reason for `thrown`: SQLite cannot use
 * it, it has another format, a row cannot be parsed, or an event cannot follow the preceding events. Returns any other
 * value unchanged.
 */
export function storeFault(file: string, thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  if (thrown instanceof OtherFormat) return new StartError(thrown.message);
  if (thrown instanceof StoreUnwritable) return new StartError(`cannot use ${file}: ${thrown.message}`);
  const { code, errcode } = thrown as { code?: unknown; errcode?: unknown };
  const isSqlite = code === "ERR_SQLITE_ERROR";
  const isEvent = thrown instanceof UnusableEvent;
  if (!isSqlite && !isEvent && !(thrown instanceof SyntaxError) && !(thrown instanceof z.ZodError)) return thrown;
  const why = thrown instanceof z.ZodError ? "a row is not of this version" : messageOf(thrown);
  if (isSqlite && NO_ACCESS.has(Number(errcode) & 0xff)) {
    return new StartError(`cannot open ${file}: ${why}. Make sure that the file and its folder can be written.`);
  }
  const unwritable = isSqlite ? unwritableCause(thrown) : null;
  if (unwritable !== null) return new StartError(`cannot write to ${file}: ${unwritable}`);
  return new StartError(
    `${file} is damaged: ${why}. Restore it from a copy, or move it away to begin with an empty one.`,
  );
}

/** Runs the first reads of a database file. A fault of the file is thrown as a StartError that names it. */
export async function readingStore<T>(file: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    throw storeFault(file, thrown);
  }
}

/** An open database file that is checked for its deletion. */
interface WatchedFile {
  /** Returns a StoreLost if the file has been deleted or replaced, and otherwise the error itself. */
  causeOf(error: Error): Error;
  /** Ends the checks. */
  end(): void;
}

/**
 * Checks every second whether an open database file or its write-ahead log has been deleted or replaced. SQLite
 * continues to write to a deleted file without an error. Calls `onLost` once if so.
 */
export function watchStoreFile(file: string, clock: Clock, onLost: (lost: StoreLost) => void): WatchedFile {
  const inodes = new Map<string, bigint>();
  for (const path of [file, `${file}-wal`]) {
    const inode = statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
    // A database file that is missing already was deleted after it was opened.
    if (inode !== undefined || path === file) inodes.set(path, inode ?? 0n);
  }
  let isOver = false;
  const end = (): void => {
    isOver = true;
    cancelChecks();
  };
  const check = async (): Promise<void> => {
    for (const [path, inode] of inodes) {
      const current = await stat(path, { bigint: true }).catch((thrown: NodeJS.ErrnoException) => thrown);
      const isLost = current instanceof Error ? current.code === "ENOENT" : current.ino !== inode;
      if (!isLost || isOver) continue;
      end();
      onLost(storeLost(path));
    }
  };
  const cancelChecks = clock.every(CHECK_INTERVAL_MS, () => void check());
  return {
    causeOf(error) {
      const inode = statSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
      return inode === inodes.get(file) ? error : storeLost(file);
    },
    end,
  };
}

const storeLost = (path: string): StoreLost =>
  new StoreLost(`${path} was deleted or replaced while it was in use. Changes can no longer be saved; start again.`);
