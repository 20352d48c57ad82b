import type { ClientBase } from "pg";
import { chainHash, type RecordedEvent } from "../../lib/hash-chain.ts";
import { EMPTY_HEAD, type StreamHead } from "./log-statements.ts";

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
