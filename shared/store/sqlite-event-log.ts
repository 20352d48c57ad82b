import type { DatabaseSync } from "node:sqlite";
import { chained, GENESIS, type RecordedEvent } from "../lib/hash-chain.ts";
import { type EventLog, type NewEvent, type StreamAppend, VersionConflict } from "./event-log.ts";
import type { Statement } from "./group-commit.ts";
import { appendOnly } from "./sqlite.ts";
import { createHeads, type Head, type StreamHeads } from "./stream-heads.ts";
import type { Writer } from "./writer.ts";

/**
 * The log names a stream by its number: the streams in use write to a few pages that lie side by side, where random names would
 * touch a page for each event.
 */
export const EVENT_LOG_SCHEMA = `
  CREATE TABLE IF NOT EXISTS streams (
    number INTEGER PRIMARY KEY,
    name TEXT UNIQUE NOT NULL
  ) STRICT;
  ${appendOnly("streams", ["name"])}
  CREATE TABLE IF NOT EXISTS log (
    stream INTEGER NOT NULL REFERENCES streams(number),
    seq INTEGER NOT NULL CHECK (seq >= 0),
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    prev_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (stream, seq)
  ) STRICT;
  CREATE TRIGGER IF NOT EXISTS log_gapless BEFORE INSERT ON log
    WHEN CASE NEW.seq WHEN 0 THEN NEW.prev_hash <> '${GENESIS}' ELSE NOT EXISTS (
      SELECT 1 FROM log WHERE stream = NEW.stream AND seq = NEW.seq - 1 AND hash = NEW.prev_hash) END
    BEGIN SELECT RAISE(ABORT, 'log entry does not follow the one before it'); END;
  ${appendOnly("log", ["stream", "seq"])}
`;

const INSERT_STREAM = "INSERT INTO streams (number, name) VALUES (?, ?)";
const INSERT_EVENT = "INSERT INTO log (stream, seq, type, body, prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?)";
/** How many streams' heads are kept in memory, a few hundred bytes each. */
const HEADS_KEPT = 4_096;

/** What the appends of one log share. */
interface Appender {
  readonly writer: Writer;
  readonly heads: StreamHeads;
  /** The number of a new stream. Numbers of creations that failed are not used again. */
  readonly newNumber: () => number;
}

/** The event log in SQLite's tables: read from `db`, written by `writer` to the same database, which no other process may write. */
export function sqliteEventLog(db: DatabaseSync, writer: Writer, { headsKept = HEADS_KEPT } = {}): EventLog {
  const selectEvents = db.prepare(
    `SELECT seq, type, body, prev_hash, hash FROM log
     WHERE stream = (SELECT number FROM streams WHERE name = ?) AND seq >= ? ORDER BY seq LIMIT ?`,
  );
  const selectStreams = db.prepare("SELECT name FROM streams WHERE substr(name, 1, length(?1)) = ?1 ORDER BY number");
  const heads = createHeads(headReader(db), headsKept);
  const appender: Appender = { writer, heads, newNumber: streamNumbers(db) };
  return {
    append: (appends, alongside = []) => append(appender, appends, alongside),
    read: (stream, from = 0, limit = -1) =>
      selectEvents.all(stream, from, limit).map((row) => ({ stream, ...row }) as unknown as RecordedEvent),
    streams: (prefix = "") => selectStreams.all(prefix).map(({ name }) => String(name)),
  };
}

/** A function that reads the head of a stream. */
function headReader(db: DatabaseSync): (stream: string) => Head {
  const selectHead = db.prepare(
    `SELECT number, seq, hash FROM streams LEFT JOIN log ON log.stream = streams.number
     WHERE name = ? ORDER BY seq DESC LIMIT 1`,
  );
  return (stream) => {
    const row = selectHead.get(stream) as { number: number; seq: number | null; hash: string | null } | undefined;
    const { number = null, seq = null, hash = null } = row ?? {};
    return {
      ...{ stream, number, version: seq === null ? 0 : seq + 1, hash: hash ?? GENESIS },
      ...{ underway: 0, settled: Promise.resolve() },
    };
  };
}

/** A function that gives the numbers of new streams. It reads the last one in the table when it is first called. */
function streamNumbers(db: DatabaseSync): () => number {
  let lastNumber: number | null = null;
  return () => {
    lastNumber ??= Number(db.prepare("SELECT max(number) AS number FROM streams").get()?.number ?? 0);
    lastNumber++;
    return lastNumber;
  };
}

async function append(
  { writer, heads, newNumber }: Appender,
  appends: readonly StreamAppend[],
  alongside: readonly Statement[],
): Promise<readonly RecordedEvent[]> {
  assertAppends(appends);
  let held = hold(heads, appends);
  if (conflictIn(held, appends)) {
    release(held);
    // Appends that are under way may fail. After a rejection the caller can read what is committed and try again.
    await Promise.allSettled(held.map(({ settled }) => settled));
    held = hold(heads, appends);
    const conflict = conflictIn(held, appends);
    if (conflict) {
      release(held);
      throw conflict;
    }
  }
  const recorded: RecordedEvent[] = [];
  const statements: Statement[] = [];
  try {
    for (const [index, { events }] of appends.entries()) {
      const head = held[index] as Head;
      if (head.number === null) {
        head.number = newNumber();
        statements.push({ sql: INSERT_STREAM, parameters: [head.number, head.stream] });
      }
      chain(head, head.number, events, recorded, statements);
    }
    const committed = writer.commit(alongside.length > 0 ? [...statements, ...alongside] : statements);
    for (const head of held) head.settled = committed;
    await committed;
    return recorded;
  } catch (thrown) {
    heads.drop(held);
    const current = appends.map(({ stream }) => heads.of(stream));
    throw conflictIn(current, appends, { cause: thrown }) ?? thrown;
  } finally {
    release(held);
  }
}

/** The heads of the streams of appends, which stay in memory until they are released. */
function hold(heads: StreamHeads, appends: readonly StreamAppend[]): readonly Head[] {
  const held: Head[] = [];
  for (const { stream } of appends) {
    const head = heads.of(stream);
    head.underway++;
    held.push(head);
  }
  return held;
}

function release(held: readonly Head[]): void {
  for (const head of held) head.underway--;
}

/** Chains events to the head of their stream, and adds the statements that write them. */
function chain(
  head: Head,
  number: number,
  events: readonly NewEvent[],
  recorded: RecordedEvent[],
  statements: Statement[],
): void {
  for (const event of events) {
    const row = chained(head.stream, head.version, head.hash, event);
    head.version++;
    head.hash = row.hash;
    recorded.push(row);
    const { seq, type, body, prev_hash, hash } = row;
    statements.push({ sql: INSERT_EVENT, parameters: [number, seq, type, body, prev_hash, hash] });
  }
}

/** The first append that expects another version than its stream has; null if there is none. `heads` are those of the appends. */
function conflictIn(
  heads: readonly Head[],
  appends: readonly StreamAppend[],
  options?: ErrorOptions,
): VersionConflict | null {
  for (const [index, { stream, expectedVersion }] of appends.entries()) {
    const { version } = heads[index] as Head;
    if (version !== expectedVersion) return new VersionConflict(stream, expectedVersion, version, options);
  }
  return null;
}

function assertAppends(appends: readonly StreamAppend[]): void {
  for (const { events } of appends) if (events.length === 0) throw new TypeError("an append has no events");
  if (appends.length > 1 && new Set(appends.map(({ stream }) => stream)).size < appends.length)
    throw new TypeError("a stream is named twice");
}
