import { existsSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { z } from "zod";
import type { Clock } from "../../lib/clock.ts";
import { messageOf } from "../../lib/result.ts";
import { OtherFormat } from "../../store/sqlite.ts";
import { UnusableEvent } from "../../store/store-errors.ts";
import { StartError, StoreLost } from "../process/exit.ts";

const LOOK_EVERY_MS = 1_000;
/** SQLite's result codes for a file that may not be written (8) and one that cannot be opened (14). */
const NO_ACCESS = new Set([8, 14]);

/**
 * The fault of a database file as one line, if the file is the reason for `thrown`: SQLite cannot use it, it has another format, a row cannot
 * be parsed, or an event cannot follow the events before it. Any other value is returned unchanged.
 */
export function storeFault(file: string, thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  if (thrown instanceof OtherFormat) return new StartError(thrown.message);
  const { code, errcode } = thrown as { code?: unknown; errcode?: unknown };
  const isSqlite = code === "ERR_SQLITE_ERROR";
  const isEvent = thrown instanceof UnusableEvent;
  if (!isSqlite && !isEvent && !(thrown instanceof SyntaxError) && !(thrown instanceof z.ZodError)) return thrown;
  const why = thrown instanceof z.ZodError ? "a row is not of this version" : messageOf(thrown);
  if (isSqlite && NO_ACCESS.has(Number(errcode) & 0xff)) {
    return new StartError(`cannot open ${file}: ${why}. Make sure that the file and its folder can be written.`);
  }
  return new StartError(
    `${file} is damaged: ${why}. Restore it from a copy, or move it away to begin with an empty one.`,
  );
}

/** Runs what reads a database file for the first time; its faults name the file. */
export async function readingStore<T>(file: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    throw storeFault(file, thrown);
  }
}

/**
 * Looks once a second whether a database file that is open here, and the write-ahead log beside it, are still those of that name. SQLite goes
 * on writing to a deleted file without an error. Calls `onLost` once, until the returned function is called.
 */
export function watchStoreFile(file: string, clock: Clock, onLost: (lost: StoreLost) => void): () => void {
  const opened = new Map<string, bigint>();
  for (const one of [file, `${file}-wal`]) if (existsSync(one)) opened.set(one, statSync(one, { bigint: true }).ino);
  let isOver = false;
  const end = (): void => {
    isOver = true;
    stopLooking();
  };
  const look = async (): Promise<void> => {
    for (const [one, inode] of opened) {
      const now = await stat(one, { bigint: true }).catch((thrown: NodeJS.ErrnoException) => thrown);
      const isLost = now instanceof Error ? now.code === "ENOENT" : now.ino !== inode;
      if (!isLost || isOver) continue;
      end();
      onLost(
        new StoreLost(`${one} was deleted or replaced while it was in use. Nothing can be kept any more; start again.`),
      );
    }
  };
  const stopLooking = clock.every(LOOK_EVERY_MS, () => void look());
  return end;
}
