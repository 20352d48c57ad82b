import { chained, GENESIS, type RecordedEvent } from "../../lib/hash-chain.ts";
import { type StreamAppend, VersionConflict } from "../event-log.ts";

/** SQL with its parameters `$1`, `$2`, … */
export interface PostgresStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A pool, a connection or a transaction. */
export interface Queryable {
  // biome-ignore lint/suspicious/noExplicitAny: the declaration of pg
  query(text: string, values: any[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
}

/** The end of a stream. */
export interface StreamHead {
  readonly version: number;
  /** The hash of the last event. */
  readonly hash: string;
}

/** The head of a stream without events. */
export const EMPTY_HEAD: StreamHead = { version: 0, hash: GENESIS };

const SELECT_HEADS = `
  SELECT name, last.seq + 1 AS version, last.hash FROM streams
  CROSS JOIN LATERAL (SELECT seq, hash FROM log WHERE stream = streams.number ORDER BY seq DESC LIMIT 1) AS last
  WHERE name = ANY ($1::text[])`;
const INSERT_STREAMS = "INSERT INTO streams (name) SELECT unnest($1::text[])";
const INSERT_EVENTS = `
  INSERT INTO log (stream, seq, type, body, prev_hash, hash, commit_number, commit_index)
  SELECT streams.number, seq, type, body, prev_hash, hash, $1, index - 1
  FROM ROWS FROM (
    unnest($2::text[], $3::int[], $4::text[], $5::text[], $6::text[]), json_array_elements_text($7::json)
  ) WITH ORDINALITY AS new (stream, seq, type, prev_hash, hash, body, index)
  JOIN streams ON streams.name = new.stream`;
const EVENT = "name AS stream, seq, type, body, prev_hash, hash";
const SELECT_STREAM = `
  SELECT ${EVENT} FROM log JOIN streams ON streams.number = log.stream
  WHERE name = $1 AND seq >= $2 ORDER BY seq LIMIT $3`;
/** With two limits the planner expects few rows and uses the index, even without statistics. */
const SELECT_COMMITS = `
  SELECT ${EVENT} FROM log JOIN streams ON streams.number = log.stream
  WHERE commit_number > $1 AND commit_number <= $2 ORDER BY commit_number, commit_index`;
const SELECT_NAMES = "SELECT name FROM streams WHERE starts_with(name, $1) ORDER BY number";

/**
 * Returns long texts as one parameter, for `json_array_elements_text`. pg escapes the elements of a `text[]` with regular
 * expressions, which takes ten times longer.
 */
export const jsonTexts = (texts: readonly string[]): string => JSON.stringify(texts);

/** Returns the heads of those streams that have events. */
export async function readHeads(db: Queryable, streams: readonly string[]): Promise<Map<string, StreamHead>> {
  const { rows } = await db.query(SELECT_HEADS, [streams]);
  return new Map(rows.map(({ name, version, hash }) => [name as string, { version, hash } as StreamHead]));
}

/**
 * Returns the events of appends, chained to the heads of their streams, which `heads` must contain, except those of
 * streams without events. Throws VersionConflict if a stream does not have the expected version.
 */
export function chainAppends(
  heads: ReadonlyMap<string, StreamHead>,
  appends: readonly StreamAppend[],
): readonly RecordedEvent[] {
  return appends.flatMap(({ stream, expectedVersion, events }) => {
    const { version, hash } = heads.get(stream) ?? EMPTY_HEAD;
    if (version !== expectedVersion) throw new VersionConflict(stream, expectedVersion, version);
    let previous = hash;
    return events.map((event, index) => {
      const recorded = chained(stream, version + index, previous, event);
      previous = recorded.hash;
      return recorded;
    });
  });
}

/**
 * Returns the statements that insert the chained events of one commit, in their order. A transaction executes them one
 * after the other, and may send them together.
 */
export function insertEvents(commitNumber: number, events: readonly RecordedEvent[]): readonly PostgresStatement[] {
  if (events.length === 0) return [];
  const newStreams = events.flatMap(({ stream, seq }) => (seq === 0 ? [stream] : []));
  const column = <Key extends keyof RecordedEvent>(key: Key): RecordedEvent[Key][] => events.map((event) => event[key]);
  const columns = [
    column("stream"),
    column("seq"),
    column("type"),
    column("prev_hash"),
    column("hash"),
    jsonTexts(column("body")),
  ];
  return [
    ...(newStreams.length > 0 ? [{ text: INSERT_STREAMS, values: [newStreams] }] : []),
    { text: INSERT_EVENTS, values: [commitNumber, ...columns] },
  ];
}

/** Returns the committed events of a stream from a sequence number on, at most `limit`; empty for an unknown stream. */
export async function readStream(
  db: Queryable,
  stream: string,
  from = 0,
  limit: number | null = null,
): Promise<readonly RecordedEvent[]> {
  return (await db.query(SELECT_STREAM, [stream, from, limit])).rows as unknown as readonly RecordedEvent[];
}

/** Returns the events of the commits after a commit up to another one, in the order of the commits. */
export async function readCommits(db: Queryable, after: number, last: number): Promise<readonly RecordedEvent[]> {
  return (await db.query(SELECT_COMMITS, [after, last])).rows as unknown as readonly RecordedEvent[];
}

/** Returns the committed streams whose name begins with a prefix, in the order of their creation. */
export async function readStreams(db: Queryable, prefix = ""): Promise<readonly string[]> {
  return (await db.query(SELECT_NAMES, [prefix])).rows.map(({ name }) => name as string);
}
