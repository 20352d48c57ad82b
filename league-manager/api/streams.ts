import type { ServerResponse } from "node:http";
import type { Clock } from "#shared/lib/clock.ts";
import { isLoopback, networkOf } from "#shared/protocol/addresses.ts";
import { remoteAddressOf } from "#shared/rpc/http-request.ts";
import type { Ledger } from "../ledger.ts";
import { eventChunks, type ReadEvents } from "./event-chunks.ts";

/** The events of leagues as server-sent events. */
export interface LeagueStreams {
  /**
   * Sends a league's events after a version, each with its version as its id, and then those that are committed. Ends with the league. Returns
   * false if there are too many readers, in total or of the reader's network.
   */
  open(leagueId: string, after: number, response: ServerResponse): boolean;
  close(): void;
}

export interface StreamOptions {
  readonly ledger: Pick<Ledger, "state" | "onCommit">;
  readonly read: ReadEvents;
  readonly clock: Clock;
  readonly maxReaders?: number;
  readonly maxReadersOfNetwork?: number;
}

interface Reader {
  readonly leagueId: string;
  readonly response: ServerResponse;
  /** Null for a reader on this machine. */
  readonly network: string | null;
  /** The version of the last event that was sent. */
  version: number;
  /** Whether the connection takes no more at the moment. */
  isFull: boolean;
  /** When the connection was last able to take more. */
  readyAt: number;
}

const MAX_READERS = 1_000;
const MAX_READERS_OF_NETWORK = 50;
/** What is written in one turn of the event loop, so that the manager goes on with its other work. */
const TURN_BYTES = 256 * 1024;
/** What a write of fewer bytes counts as. */
const WRITE_BYTES = 2 * 1024;
const HEARTBEAT_MS = 15_000;
/** A reader that takes nothing for so long is disconnected. It resumes from the last event that it received. */
const STALLED_MS = 30_000;

const EVENT_STREAM = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  connection: "close",
};

export function leagueStreams(options: StreamOptions): LeagueStreams {
  const { ledger, read, clock, maxReaders = MAX_READERS, maxReadersOfNetwork = MAX_READERS_OF_NETWORK } = options;
  const readers = new Set<Reader>();
  const feed = feeder(ledger, read, clock);

  const stopListening = ledger.onCommit(({ events }) => {
    const changed = new Set(events.map((committed) => (committed.kind === "league" ? committed.leagueId : null)));
    for (const reader of readers) if (changed.has(reader.leagueId)) feed.later(reader);
  });

  const stopBeating = clock.every(HEARTBEAT_MS, () => {
    for (const reader of readers) {
      if (!reader.isFull) reader.isFull = !reader.response.write(": heartbeat\n\n");
      else if (clock.monotonic() - reader.readyAt > STALLED_MS) reader.response.destroy();
    }
  });

  const hasPlace = (network: string | null): boolean => {
    if (readers.size >= maxReaders) return false;
    return network === null || count(readers, network) < maxReadersOfNetwork;
  };

  return {
    open(leagueId, after, response) {
      const address = remoteAddressOf(response.req);
      const network = isLoopback(address) ? null : networkOf(address);
      if (!hasPlace(network)) return false;
      // Without chunks each event is one write. The end of the stream is the end of the connection.
      response.useChunkedEncodingByDefault = false;
      response.writeHead(200, EVENT_STREAM).flushHeaders();
      const reader: Reader = { leagueId, response, network, version: after, isFull: false, readyAt: clock.monotonic() };
      readers.add(reader);
      response.once("close", () => readers.delete(reader));
      response.on("drain", () => {
        reader.isFull = false;
        reader.readyAt = clock.monotonic();
        feed.later(reader);
      });
      feed.later(reader);
      return true;
    },
    close() {
      stopListening();
      stopBeating();
      for (const reader of readers) {
        feed.now(reader);
        reader.response.end();
      }
    },
  };
}

/** Sends readers the events that they have not received, until their connections are full: a chunk at a time, in turns. */
function feeder(ledger: StreamOptions["ledger"], read: ReadEvents, clock: Clock) {
  const chunkAfter = eventChunks(read);
  const waiting = new Set<Reader>();

  const send = (reader: Reader): number => {
    const { response, leagueId } = reader;
    if (reader.isFull || response.destroyed || response.writableEnded) return 0;
    const chunk = chunkAfter(leagueId, reader.version);
    if (chunk) {
      reader.version = chunk.version;
      reader.isFull = !response.write(chunk.bytes);
    }
    const league = ledger.state.leagues.get(leagueId);
    if (league?.status === "completed" && reader.version >= league.version) response.end();
    return chunk?.bytes.length ?? 0;
  };

  /** Sends the next chunk. Returns its size; 0 if there is none or the connection takes none. */
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
    let written = 0;
    // A reader that is added again during the loop comes last.
    for (const reader of waiting) {
      if (written >= TURN_BYTES) break;
      waiting.delete(reader);
      const size = now(reader);
      written += Math.max(size, WRITE_BYTES);
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

function count(readers: ReadonlySet<Reader>, network: string): number {
  let found = 0;
  for (const reader of readers) if (reader.network === network) found++;
  return found;
}
