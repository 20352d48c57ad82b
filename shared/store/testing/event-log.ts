import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../lib/clock.ts";
import type { EventLog, NewEvent } from "../event-log.ts";
import { openSqlite } from "../sqlite.ts";
import { sqliteEventLog } from "../sqlite-event-log.ts";
import { threadWriter } from "../writer.ts";
import { testWriter } from "./writer.ts";

/** A log under test. */
export interface OpenedLog {
  readonly log: EventLog;
  /** Returns the number of transactions committed so far; null if they cannot be counted. */
  commits(): number | null;
  /** Returns the texts of the table `notes`, sorted. */
  notes(): readonly unknown[];
  close(): void | Promise<void>;
}

const NOTES = "CREATE TABLE notes (text TEXT PRIMARY KEY);";

export const MEDIA = ["a file", "a file, written by a thread", "memory"] as const;
type Medium = (typeof MEDIA)[number];

let files = 0;

/** Opens a new event log in SQLite with these tables. */
export function openLog(folder: string, schema: string, medium: Medium): OpenedLog {
  mkdirSync(folder, { recursive: true });
  const file = medium === "memory" ? ":memory:" : join(folder, `${++files}.sqlite`);
  const db = openSqlite(file, schema + NOTES);
  const opened = {
    notes: () =>
      db
        .prepare("SELECT text FROM notes ORDER BY text")
        .all()
        .map(({ text }) => text),
  };
  if (medium !== "a file, written by a thread") {
    const commits = () => (medium === "memory" ? null : commitsIn(file));
    return { ...opened, log: sqliteEventLog(db, testWriter(db)), commits, close: () => db.close() };
  }
  const writer = threadWriter(
    file,
    (reason) => {
      throw reason;
    },
    systemClock,
  );
  const close = async (): Promise<void> => {
    await writer.close();
    db.close();
  };
  return { ...opened, log: sqliteEventLog(db, writer), commits: () => commitsIn(file), close };
}

/** Counts the commits in the write-ahead log: the frames that carry the size of the database after the commit. */
function commitsIn(file: string): number {
  const wal = readFileSync(`${file}-wal`);
  const frame = 24 + wal.readUInt32BE(8);
  const frames = Array.from({ length: Math.floor((wal.length - 32) / frame) }, (_, index) => 32 + index * frame);
  return frames.filter((at) => wal.readUInt32BE(at + 4) !== 0).length;
}

/** Returns `count` events of a type with numbered bodies. */
export const events = (count: number, type = "counted"): NewEvent[] =>
  Array.from({ length: count }, (_, n) => ({ type, body: JSON.stringify({ n, text: "é\n☃" }) }));
