import type { ServerResponse } from "node:http";
import type { Clock } from "#shared/lib/clock.ts";
import type { Ledger } from "../../ledger.ts";
import { bytesOfTypes, type EventType, eventChunks, type ReadEvents } from "./chunks.ts";

/** A connection that follows the events of a league. */
export interface Reader {
  readonly leagueId: string;
  /** The types of events that it is sent; null for all. */
  readonly types: ReadonlySet<EventType> | null;
  readonly response: ServerResponse;
  /** Null for a reader on this machine. */
  readonly network: string | null;
  /** The version up to which it has been sent its events. */
  version: number;
  /** Whether the connection takes no more at the moment. */
  isFull: boolean;
  /** When the connection was last able to take more. */
  readyAt: number;
}

/** How many events are read in one turn of the event loop: reading a long stream must not hold up the manager's other work. */
const TURN_BYTES = 256 * 1024;
/** What a chunk of fewer bytes counts as. */
const WRITE_BYTES = 2 * 1024;

/** Sends readers the events that they have not received, until their connections are full: a chunk at a time, in turns. */
export function eventFeed(ledger: Pick<Ledger, "state">, read: ReadEvents, clock: Clock) {
  const chunkAfter = eventChunks(read);
  const waiting = new Set<Reader>();

  const send = (reader: Reader): number => {
    const { response, leagueId } = reader;
    if (reader.isFull || response.destroyed || response.writableEnded) return 0;
    const chunk = chunkAfter(leagueId, reader.version);
    if (chunk) {
      reader.version = chunk.version;
      reader.isFull = !response.write(bytesOfTypes(chunk, reader.types));
    }
    const league = ledger.state.leagues.get(leagueId);
    if (league?.status === "completed" && reader.version >= league.version) response.end();
    return chunk?.bytes.length ?? 0;
  };

  /** Sends the next chunk. Returns the size of its events, sent or not; 0 if there is none or the connection takes none. */
  const now = (reader: Reader): number => {
    try {
      return send(reader);
    } catch {
      // The store could not be read, which ends the manager or passes. The reader resumes with a new connection.
      reader.response.destroy();
      return 0;
    }
  };

  const takeTurn = (): void => {
    let taken = 0;
    // A reader that is added again during the loop comes last.
    for (const reader of waiting) {
      if (taken >= TURN_BYTES) break;
      waiting.delete(reader);
      const size = now(reader);
      taken += Math.max(size, WRITE_BYTES);
      if (size > 0) waiting.add(reader);
    }
    if (waiting.size > 0) clock.defer(takeTurn);
  };

  const later = (reader: Reader): void => {
    if (waiting.size === 0) clock.defer(takeTurn);
    waiting.add(reader);
  };
  return { now, later };
}
