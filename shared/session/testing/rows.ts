import { chained, GENESIS, type NewEvent, type RecordedEvent } from "#shared/lib/hash.ts";
import { parseEntry } from "../entry.ts";

/** Returns the events of a session from the texts of its entries. Throws if a text is not an entry. */
export const rowsOf = (sessionId: string, texts: readonly string[]): RecordedEvent[] =>
  chainOf(
    sessionId,
    texts.map((body) => ({ type: parseEntry(body).type, body })),
  );

/** Returns the events of a stream as a log stores them. */
export function chainOf(stream: string, events: readonly NewEvent[]): RecordedEvent[] {
  const rows: RecordedEvent[] = [];
  for (const event of events) rows.push(chained(stream, rows.length, rows.at(-1)?.hash ?? GENESIS, event));
  return rows;
}
