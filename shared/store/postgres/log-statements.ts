import type { ClientBase } from "pg";
import { chained, chainHash, GENESIS, type RecordedEvent } from "#shared/lib/hash.ts";
import { type StreamAppend, VersionConflict } from "#shared/store/event-log.ts";

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

/** The functions of the triggers, by their names, with their bodies. `league db check` compares them with those of a database. */
const TRIGGER_FUNCTIONS = {
  reject_change: `
    BEGIN
      RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
    END `,
  check_log_gapless: `
    BEGIN
      IF EXISTS (
        SELECT 1 FROM added WHERE prev_hash IS DISTINCT FROM CASE seq WHEN 0 THEN '${GENESIS}'
          ELSE (SELECT hash FROM log WHERE log.stream = added.stream AND log.seq = added.seq - 1) END)
      THEN
        RAISE EXCEPTION 'log entry does not follow the one before it' USING ERRCODE = 'integrity_constraint_violation';
      END IF;
      RETURN NULL;
    END `,
} as const;

/**
 * Returns a trigger that rejects UPDATE, DELETE and TRUNCATE on a table, also by its owner. The trigger fires for every
 * value of session_replication_role. The function of the trigger is created by `EVENT_LOG_TABLES`.
 */
export const appendOnly = (table: string): string => `
  CREATE TRIGGER ${table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table}
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
  ALTER TABLE ${table} ENABLE ALWAYS TRIGGER ${table}_append_only;
`;

/** Returns the tables that migrations make append-only. */
export const appendOnlyTables = (migrations: readonly { readonly sql: string }[]): readonly string[] =>
  migrations.flatMap(({ sql }) =>
    [...sql.matchAll(/CREATE TRIGGER \w+_append_only .* ON (\w+)/g)].map(([, table = ""]) => table),
  );

/**
 * The tables of the event log. `commit_number` and `commit_index` are the position of an event in the order of all
 * events. The gapless check runs once for each statement. A connection keeps its plan, and one that is made while the log
 * is short would read the whole table, so sequential scans are off.
 */
export const EVENT_LOG_TABLES = `
  CREATE TABLE streams (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" UNIQUE NOT NULL
  );
  CREATE TABLE log (
    stream integer NOT NULL REFERENCES streams (number),
    seq integer NOT NULL CHECK (seq >= 0),
    type text NOT NULL,
    body text NOT NULL,
    prev_hash text NOT NULL,
    hash text NOT NULL,
    commit_number bigint NOT NULL CHECK (commit_number >= 1),
    commit_index integer NOT NULL CHECK (commit_index >= 0),
    PRIMARY KEY (stream, seq),
    UNIQUE (commit_number, commit_index)
  );
  CREATE FUNCTION check_log_gapless() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off
    AS $$${TRIGGER_FUNCTIONS.check_log_gapless}$$;
  CREATE TRIGGER log_gapless AFTER INSERT ON log REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION check_log_gapless();
  ALTER TABLE log ENABLE ALWAYS TRIGGER log_gapless;
  CREATE FUNCTION reject_change() RETURNS trigger LANGUAGE plpgsql AS $$${TRIGGER_FUNCTIONS.reject_change}$$;
  ${appendOnly("streams")}
  ${appendOnly("log")}
`;

interface Trigger {
  readonly name: string;
  readonly table: string;
  readonly function: keyof typeof TRIGGER_FUNCTIONS;
  /** `pg_trigger.tgtype`: 2 before, 4 insert, 8 delete, 16 update, 32 truncate; for each statement. */
  readonly type: number;
}

const GAPLESS: Trigger = { name: "log_gapless", table: "log", function: "check_log_gapless", type: 4 };

const appendOnlyTrigger = (table: string): Trigger => ({
  name: `${table}_append_only`,
  table,
  function: "reject_change",
  type: 2 + 8 + 16 + 32,
});

const SELECT_TRIGGERS = `
  SELECT tgname AS name, relname AS table, tgtype AS type, tgenabled AS enabled, prosrc AS source
  FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid JOIN pg_class ON pg_class.oid = tgrelid
  WHERE NOT tgisinternal AND tgqual IS NULL AND tgattr = '' AND relnamespace = current_schema()::regnamespace`;

/** Returns one sentence for each trigger of the log and of append-only tables that is missing, disabled or altered. */
export async function triggerFaults(client: ClientBase, tables: readonly string[]): Promise<readonly string[]> {
  const { rows } = await client.query(SELECT_TRIGGERS);
  return [GAPLESS, ...tables.map(appendOnlyTrigger)].flatMap((trigger) => {
    const { name, table } = trigger;
    const found = rows.find((row) => row.name === name && row.table === table);
    if (!found) return [`table ${table} does not have the trigger ${name} of this version`];
    if (found.type !== trigger.type || found.source !== TRIGGER_FUNCTIONS[trigger.function])
      return [`trigger ${name} of table ${table} has been altered`];
    return found.enabled === "A" ? [] : [`trigger ${name} of table ${table} is disabled`];
  });
}

/** The result of a check of the event log. */
export interface CheckedLog {
  readonly streams: number;
  readonly events: number;
  /** One sentence for each fault; at most one for each stream. */
  readonly faults: readonly string[];
}

/** An event with its place in the order of all events. */
interface Row extends RecordedEvent {
  /** The number of its stream. */
  readonly number: number;
  readonly commit_number: number;
}

/** The place after which the next page begins, and the state of the stream there. */
interface Place extends StreamHead {
  readonly number: number;
  readonly stream: string;
  readonly commitNumber: number;
  /** A stream with a fault is not checked further, because its later events would be faulty too. */
  readonly isFaulty: boolean;
}

const PAGE = 2_000;
const SELECT_PAGE = `
  SELECT streams.number, name AS stream, seq, type, body, prev_hash, hash, commit_number
  FROM log JOIN streams ON streams.number = log.stream
  WHERE (log.stream, seq) > ($1, $2) ORDER BY log.stream, seq LIMIT ${PAGE}`;
const SELECT_EMPTY =
  "SELECT name FROM streams WHERE NOT EXISTS (SELECT 1 FROM log WHERE stream = number) ORDER BY number";
const SELECT_INCOMPLETE = `
  SELECT commit_number AS number FROM log GROUP BY commit_number
  HAVING count(*) <> max(commit_index) + 1 ORDER BY commit_number LIMIT 10`;

/**
 * Reads the whole log and checks that the events of each stream are gapless and chained by their hashes, and that those of
 * each commit are complete. The caller's transaction reads one snapshot.
 */
export async function checkLog(client: ClientBase): Promise<CheckedLog> {
  const faults: string[] = [];
  let streams = 0;
  let events = 0;
  let place: Place = { ...EMPTY_HEAD, number: 0, stream: "", commitNumber: 0, isFaulty: false };
  for (;;) {
    const { rows } = await client.query<Row>(SELECT_PAGE, [place.number, place.version - 1]);
    for (const row of rows) {
      if (row.number !== place.number) {
        streams++;
        place = { ...EMPTY_HEAD, number: row.number, stream: row.stream, commitNumber: 0, isFaulty: false };
      }
      const fault = place.isFaulty ? null : faultOf(row, place);
      if (fault !== null) faults.push(fault);
      const isFaulty = place.isFaulty || fault !== null;
      place = { ...place, version: row.seq + 1, hash: row.hash, commitNumber: row.commit_number, isFaulty };
    }
    events += rows.length;
    if (rows.length < PAGE) break;
  }
  const empty = await client.query(SELECT_EMPTY);
  faults.push(...empty.rows.map(({ name }) => `stream ${name} has no events`));
  const incomplete = await client.query(SELECT_INCOMPLETE);
  faults.push(...incomplete.rows.map(({ number }) => `commit ${number} does not have all its events`));
  return { streams, events, faults };
}

/** Returns the fault of an event after a place; null if it continues its stream. */
function faultOf(row: Row, { version, hash, commitNumber }: Place): string | null {
  const { stream, seq } = row;
  if (seq !== version) return `event ${version + 1} of stream ${stream} is missing`;
  if (row.prev_hash !== hash) return `event ${seq + 1} of stream ${stream} does not follow the one before it`;
  if (row.hash !== chainHash(row.prev_hash, row.body))
    return `event ${seq + 1} of stream ${stream} has been changed: its hash is wrong`;
  return row.commit_number < commitNumber
    ? `event ${seq + 1} of stream ${stream} belongs to an earlier commit than the one before it`
    : null;
}
