import type { DatabaseSync } from "node:sqlite";
import { chained, GENESIS, type RecordedEvent } from "#shared/lib/hash.ts";
import { type EventLog, type NewEvent, type StreamAppend, VersionConflict } from "./event-log.ts";
import { appendOnly } from "./sqlite.ts";
import type { Statement, Writer } from "./writer.ts";

/**
 * The log refers to a stream by its number, so that the streams in use write to a few adjacent pages. Random names
 * would touch one page for each event.
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
/** The number of stream heads in memory. A head takes a few hundred bytes. */
const MAX_HEADS = 4_096;

/** The state that all appends of one log share. */
interface Appender {
  readonly writer: Writer;
  readonly heads: StreamHeads;
  /** Returns the number of a new stream. Numbers of streams whose creation failed are not used again. */
  readonly newNumber: () => number;
}

/**
 * Opens the event log in the tables of a SQLite database. It reads from `db`. `writer` writes to the same database, to
 * which no other process may write.
 */
export function sqliteEventLog(db: DatabaseSync, writer: Writer, { maxHeads = MAX_HEADS } = {}): EventLog {
  const selectEvents = db.prepare(
    `SELECT seq, type, body, prev_hash, hash FROM log
     WHERE stream = (SELECT number FROM streams WHERE name = ?) AND seq >= ? ORDER BY seq LIMIT ?`,
  );
  const selectStreams = db.prepare("SELECT name FROM streams WHERE substr(name, 1, length(?1)) = ?1 ORDER BY number");
  const heads = createHeads(headReader(db), maxHeads);
  const appender: Appender = { writer, heads, newNumber: streamNumbers(db) };
  return {
    append: (appends, alongside = []) => append(appender, appends, alongside),
    read: (stream, from = 0, limit = -1) =>
      selectEvents.all(stream, from, limit).map((row) => ({ stream, ...row }) as unknown as RecordedEvent),
    streams: (prefix = "") => selectStreams.all(prefix).map(({ name }) => String(name)),
  };
}

/** Returns a function that reads the head of a stream from disk. */
function headReader(db: DatabaseSync): (stream: string) => Head {
  const selectHead = db.prepare(
    `SELECT number, seq, hash FROM streams LEFT JOIN log ON log.stream = streams.number
     WHERE name = ? ORDER BY seq DESC LIMIT 1`,
  );
  return (stream) => {
    const row = selectHead.get(stream) as { number: number; seq: number | null; hash: string | null } | undefined;
    const { number = null, seq = null, hash = null } = row ?? {};
    return {
      stream,
      number,
      version: seq === null ? 0 : seq + 1,
      hash: hash ?? GENESIS,
      pendingAppends: 0,
      settled: Promise.resolve(),
    };
  };
}

/** Returns a function that assigns the numbers of new streams. Its first call reads the last number from the table. */
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
  let pinned = pinHeads(heads, appends);
  if (conflictIn(pinned, appends)) {
    unpinHeads(pinned);
    // Pending appends may fail. After a rejection the caller can read the committed events and try again.
    await Promise.allSettled(pinned.map(({ settled }) => settled));
    pinned = pinHeads(heads, appends);
    const conflict = conflictIn(pinned, appends);
    if (conflict) {
      unpinHeads(pinned);
      throw conflict;
    }
  }
  const recorded: RecordedEvent[] = [];
  const statements: Statement[] = [];
  try {
    for (const [index, { events }] of appends.entries()) {
      const head = pinned[index] as Head;
      if (head.number === null) {
        head.number = newNumber();
        statements.push({ sql: INSERT_STREAM, parameters: [head.number, head.stream] });
      }
      chain(head, head.number, events, recorded, statements);
    }
    const committed = writer.commit(alongside.length > 0 ? [...statements, ...alongside] : statements);
    for (const head of pinned) head.settled = committed;
    await committed;
    return recorded;
  } catch (thrown) {
    heads.drop(pinned);
    const current = appends.map(({ stream }) => heads.of(stream));
    throw conflictIn(current, appends, { cause: thrown }) ?? thrown;
  } finally {
    unpinHeads(pinned);
  }
}

/** Returns the heads of the streams that are appended to. They stay in memory until they are unpinned. */
function pinHeads(heads: StreamHeads, appends: readonly StreamAppend[]): readonly Head[] {
  const pinned: Head[] = [];
  for (const { stream } of appends) {
    const head = heads.of(stream);
    head.pendingAppends++;
    pinned.push(head);
  }
  return pinned;
}

function unpinHeads(pinned: readonly Head[]): void {
  for (const head of pinned) head.pendingAppends--;
}

/**
 * Chains events to the head of their stream. Adds the recorded events to `recorded`, and the statements that insert
 * them to `statements`.
 */
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

/**
 * Returns a VersionConflict for the first append whose expected version differs from the version of its stream, or
 * null. `heads` are the heads of the appends, in the same order.
 */
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

/** Throws a TypeError for appends that no log accepts. */
function assertAppends(appends: readonly StreamAppend[]): void {
  for (const { events } of appends) if (events.length === 0) throw new TypeError("an append has no events");
  if (appends.length > 1 && new Set(appends.map(({ stream }) => stream)).size < appends.length)
    throw new TypeError("a stream is named twice");
}

/** The end of a stream, including its pending appends. */
export interface Head {
  readonly stream: string;
  /** The stream's number in its table; null for a stream that does not exist. */
  number: number | null;
  version: number;
  /** The hash of the last event. */
  hash: string;
  /** The number of pending appends to the stream. */
  pendingAppends: number;
  /** Settles when the last pending append is settled. */
  settled: Promise<unknown>;
}

interface StreamHeads {
  of(stream: string): Head;
  /** Removes the heads of a failed append, so that they are read from disk again. */
  drop(heads: readonly Head[]): void;
}

/**
 * Creates a cache of the most recently read heads. Heads with pending appends are never evicted, even beyond
 * `capacity`. `read` reads a head from disk.
 */
export function createHeads(read: (stream: string) => Head, capacity: number): StreamHeads {
  /** Heads in the order in which they were read. */
  const heads = new Map<string, Head>();

  const evict = (): void => {
    for (const { stream, pendingAppends } of heads.values()) {
      if (heads.size < capacity) return;
      if (pendingAppends === 0) heads.delete(stream);
    }
  };

  return {
    of(stream) {
      const known = heads.get(stream);
      if (known) return known;
      evict();
      const head = read(stream);
      heads.set(stream, head);
      return head;
    },
    drop(failed) {
      // A head that has been read since then stays: it does not include the failed appends.
      for (const head of failed) if (heads.get(head.stream) === head) heads.delete(head.stream);
    },
  };
}
