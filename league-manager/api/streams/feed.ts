import type { ServerResponse } from "node:http";
import type { Clock } from "#shared/lib/clock.ts";
import type { Ledger } from "../../ledger.ts";
import { bytesOfTypes, type EventType, eventChunks, type ReadEvents } from "./chunks.ts";

/** A connection that follows the events of a league. */
export interface EventReader {
  readonly leagueId: string;
  /** The types of events that the reader receives; null for all types. */
  readonly types: ReadonlySet<EventType> | null;
  readonly response: ServerResponse;
  /** The network of the reader's address; null for a reader on this machine. */
  readonly network: string | null;
  /** The version of the last event that was sent or skipped. */
  version: number;
  /** Whether the connection's buffer is full. */
  isFull: boolean;
  /** The monotonic time at which the buffer last had room. */
  readyAtMs: number;
}

/** The amount of events that is read in one turn of the event loop, so that a long stream does not delay other work of the manager. */
const TURN_BYTES = 256 * 1024;
/** The least amount that a chunk counts toward `TURN_BYTES`, because each write has a cost. */
const MIN_CHUNK_BYTES = 2 * 1024;

/** Sends each reader the events that it has not received, one chunk per reader in turn, until its connection is full. */
export function eventFeed(ledger: Pick<Ledger, "state">, read: ReadEvents, clock: Clock) {
  const chunkAfter = eventChunks(read);
  const waiting = new Set<EventReader>();
  let isScheduled = false;
  /** The last send. Sends follow each other, so that a reader receives each event once and in order. */
  let lastSend: Promise<unknown> = Promise.resolve();

  const canReceive = ({ isFull, response }: EventReader): boolean =>
    !isFull && !response.destroyed && !response.writableEnded;

  const send = async (reader: EventReader): Promise<number> => {
    const { response, leagueId } = reader;
    if (!canReceive(reader)) return 0;
    const chunk = await chunkAfter(leagueId, reader.version);
    if (!canReceive(reader)) return 0;
    if (chunk) {
      reader.version = chunk.version;
      reader.isFull = !response.write(bytesOfTypes(chunk, reader.types));
    }
    const league = ledger.state.leagues.get(leagueId);
    if (league?.status === "completed" && reader.version >= league.version) response.end();
    return chunk?.bytes.length ?? 0;
  };

  /** Sends the next chunk. Resolves with the size of its events, including those that the reader does not want; 0 if nothing was sent. */
  const sendNow = (reader: EventReader): Promise<number> => {
    const sent = lastSend.then(async () => {
      try {
        return await send(reader);
      } catch {
        // The store could not be read. The reader resumes with a new connection.
        reader.response.destroy();
        return 0;
      }
    });
    lastSend = sent;
    return sent;
  };

  const schedule = (): void => {
    isScheduled = true;
    clock.defer(() => void takeTurn());
  };

  const takeTurn = async (): Promise<void> => {
    let turnBytes = 0;
    // A reader that is added again during the loop comes last.
    for (const reader of waiting) {
      if (turnBytes >= TURN_BYTES) break;
      waiting.delete(reader);
      const size = await sendNow(reader);
      turnBytes += Math.max(size, MIN_CHUNK_BYTES);
      if (size > 0) waiting.add(reader);
    }
    isScheduled = false;
    if (waiting.size > 0) schedule();
  };

  /** Sends chunks in later turns of the event loop. */
  const sendLater = (reader: EventReader): void => {
    waiting.add(reader);
    if (!isScheduled) schedule();
  };
  return { sendNow, sendLater };
}
