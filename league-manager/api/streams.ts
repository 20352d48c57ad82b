import type { ServerResponse } from "node:http";
import type { Clock } from "#shared/lib/clock.ts";
import type { LeagueEvent } from "../league/events.ts";
import type { Ledger } from "../ledger.ts";
import { publicEvent } from "./public-events.ts";

/** The events of leagues as server-sent events. */
export interface LeagueStreams {
  /**
   * Sends a league's events after a version, each with its version as its id, and then those that are committed. Ends with the league. Returns
   * false if there are too many readers.
   */
  open(leagueId: string, after: number, response: ServerResponse): boolean;
  close(): void;
}

export interface StreamOptions {
  readonly ledger: Pick<Ledger, "state" | "onCommit">;
  /** Committed events of a league after a version, at most `limit`. */
  readonly read: (leagueId: string, after: number, limit: number) => readonly LeagueEvent[];
  readonly clock: Clock;
  readonly maxReaders?: number;
}

interface Reader {
  readonly leagueId: string;
  readonly response: ServerResponse;
  /** The version of the last event that was sent. */
  version: number;
  /** Whether the connection takes no more at the moment. */
  isFull: boolean;
  /** When the connection was last able to take more. */
  readyAt: number;
}

/** The last events of a league, ready to be sent, so that all readers of a league share one text. */
interface Recent {
  /** The version of the first text. */
  first: number;
  readonly texts: string[];
}

const MAX_READERS = 1_000;
const CHUNK = 200;
const RECENT_EVENTS = 256;
const HEARTBEAT_MS = 15_000;
/** A reader that takes nothing for so long is disconnected. It resumes from the last event that it received. */
const STALLED_MS = 30_000;

const EVENT_STREAM = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  connection: "close",
};

export function leagueStreams({ ledger, read, clock, maxReaders = MAX_READERS }: StreamOptions): LeagueStreams {
  const readers = new Set<Reader>();
  const recent = new Map<string, Recent>();

  const nextTexts = ({ leagueId, version }: Reader): readonly string[] => {
    const { first, texts } = recent.get(leagueId) ?? { first: Number.POSITIVE_INFINITY, texts: [] };
    if (version + 1 >= first) return texts.slice(version + 1 - first, version + 1 - first + CHUNK);
    return read(leagueId, version, CHUNK).map((event, index) => textOf(leagueId, version + 1 + index, event));
  };

  /** Sends the events that the reader has not received until the connection is full. At most one chunk waits in memory. */
  const feed = (reader: Reader): void => {
    const { response, leagueId } = reader;
    while (!reader.isFull && !response.destroyed) {
      const texts = nextTexts(reader);
      if (texts.length === 0) break;
      reader.version += texts.length;
      reader.isFull = !response.write(texts.join(""));
    }
    const league = ledger.state.leagues.get(leagueId);
    if (league?.status === "completed" && reader.version >= league.version) response.end();
  };

  const stopListening = ledger.onCommit(({ events }) => {
    const changed = new Set<string>();
    for (const committed of events) {
      if (committed.kind !== "league") continue;
      const { leagueId, version, event } = committed;
      changed.add(leagueId);
      keep(recent, leagueId, version, textOf(leagueId, version, event));
    }
    for (const reader of readers) if (changed.has(reader.leagueId)) feed(reader);
  });

  const stopBeating = clock.every(HEARTBEAT_MS, () => {
    for (const reader of readers) {
      if (!reader.isFull) reader.response.write(": heartbeat\n\n");
      else if (clock.monotonic() - reader.readyAt > STALLED_MS) reader.response.destroy();
    }
  });

  return {
    open(leagueId, after, response) {
      if (readers.size >= maxReaders) return false;
      // Without chunks each event is one write. The end of the stream is the end of the connection.
      response.useChunkedEncodingByDefault = false;
      response.writeHead(200, EVENT_STREAM).flushHeaders();
      const reader: Reader = { leagueId, response, version: after, isFull: false, readyAt: clock.monotonic() };
      readers.add(reader);
      response.once("close", () => readers.delete(reader));
      response.on("drain", () => {
        reader.isFull = false;
        reader.readyAt = clock.monotonic();
        feed(reader);
      });
      feed(reader);
      return true;
    },
    close() {
      stopListening();
      stopBeating();
      for (const { response } of readers) response.end();
    },
  };
}

function keep(recent: Map<string, Recent>, leagueId: string, version: number, text: string): void {
  const known = recent.get(leagueId);
  if (!known) return void recent.set(leagueId, { first: version, texts: [text] });
  known.texts.push(text);
  if (known.texts.length > 2 * RECENT_EVENTS) known.first += known.texts.splice(0, RECENT_EVENTS).length;
}

const textOf = (leagueId: string, version: number, event: LeagueEvent): string =>
  `id: ${version}\nevent: ${event.type}\ndata: ${JSON.stringify(publicEvent(leagueId, version, event))}\n\n`;
