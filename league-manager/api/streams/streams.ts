import type { ServerResponse } from "node:http";
import type { Clock } from "#shared/lib/clock.ts";
import { isLoopback, networkOf } from "#shared/protocol/addresses.ts";
import { EVENT_STREAM_HEADERS } from "#shared/rpc/http/event-stream.ts";
import { remoteAddressOf } from "#shared/rpc/http/request.ts";
import type { Ledger } from "../../ledger.ts";
import type { ReadEvents } from "./chunks.ts";
import { type EventReader, eventFeed } from "./feed.ts";

/** Streams of server-sent events, one event for each event of a league. */
export interface LeagueStreams {
  /**
   * Sends the events of a league after a version, and then each event that is committed. The id of a sent event is its version. The response ends
   * with the league. Returns false if there are too many readers, in total or of the reader's network.
   */
  open(requested: RequestedEvents, response: ServerResponse): boolean;
  /**
   * Resolves with whether a league has reached a version. Another manager can have committed a version, and sent it, before this manager knows it.
   */
  hasVersion(leagueId: string, version: number): Promise<boolean>;
  /** Sends what each reader can still take, and ends the streams. */
  close(): Promise<void>;
}

/** The events that a reader requests; `types` is null for all types. */
export type RequestedEvents = Pick<EventReader, "leagueId" | "types"> & { readonly after: number };

export interface StreamOptions {
  readonly ledger: Pick<Ledger, "state" | "onCommit">;
  readonly read: ReadEvents;
  readonly clock: Clock;
  readonly maxReaders?: number;
  readonly maxReadersOfNetwork?: number;
}

const MAX_READERS = 1_000;
const MAX_READERS_OF_NETWORK = 50;
const HEARTBEAT_MS = 15_000;
/** A reader that takes no data for this time is disconnected. It resumes after the last event that it received. */
const STALLED_MS = 30_000;

export function leagueStreams(options: StreamOptions): LeagueStreams {
  const { ledger, read, clock, maxReaders = MAX_READERS, maxReadersOfNetwork = MAX_READERS_OF_NETWORK } = options;
  const readers = new Set<EventReader>();
  const feed = eventFeed(ledger, read, clock);

  const stopListening = ledger.onCommit(({ events }) => {
    const changed = new Set(events.map((committed) => (committed.kind === "league" ? committed.leagueId : null)));
    for (const reader of readers) if (changed.has(reader.leagueId)) feed.sendLater(reader);
  });

  const stopHeartbeat = clock.every(HEARTBEAT_MS, () => {
    for (const reader of readers) {
      if (!reader.isFull) reader.isFull = !reader.response.write(": heartbeat\n\n");
      else if (clock.monotonic() - reader.readyAtMs > STALLED_MS) reader.response.destroy();
    }
  });

  const hasCapacity = (network: string | null): boolean => {
    if (readers.size >= maxReaders) return false;
    return network === null || count(readers, network) < maxReadersOfNetwork;
  };

  return {
    async hasVersion(leagueId, version) {
      const known = ledger.state.leagues.get(leagueId)?.version ?? 0;
      return version <= known || (await read(leagueId, version - 1, 1)).length > 0;
    },
    open({ after, ...requested }, response) {
      const address = remoteAddressOf(response.req);
      const network = isLoopback(address) ? null : networkOf(address);
      if (!hasCapacity(network)) return false;
      // Without chunked encoding each event is one write, and the end of the connection ends the stream.
      response.useChunkedEncodingByDefault = false;
      response.writeHead(200, EVENT_STREAM_HEADERS).flushHeaders();
      const reader: EventReader = {
        ...requested,
        ...{ response, network, version: after, isFull: false, readyAtMs: clock.monotonic() },
      };
      readers.add(reader);
      response.once("close", () => readers.delete(reader));
      response.on("drain", () => {
        reader.isFull = false;
        reader.readyAtMs = clock.monotonic();
        feed.sendLater(reader);
      });
      feed.sendLater(reader);
      return true;
    },
    async close() {
      stopListening();
      stopHeartbeat();
      await Promise.all(
        [...readers].map(async (reader) => {
          await feed.sendNow(reader);
          reader.response.end();
        }),
      );
    },
  };
}

function count(readers: ReadonlySet<EventReader>, network: string): number {
  let found = 0;
  for (const reader of readers) if (reader.network === network) found++;
  return found;
}
