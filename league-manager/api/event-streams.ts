import type { ServerResponse } from "node:http";
import type { Express, Request, Response } from "express";
import type { Clock } from "#shared/lib/clock.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { cutTo } from "#shared/lib/text.ts";
import { isLoopback, networkOf } from "#shared/protocol/addresses.ts";
import { EVENT_STREAM_HEADERS } from "#shared/rpc/http/event-stream.ts";
import { remoteAddressOf } from "#shared/rpc/http/request.ts";
import { LEAGUE_EVENT_TYPES, type LeagueEvent } from "../league/events.ts";
import type { League } from "../league/league.ts";
import { publicReason } from "../league/outcome.ts";
import type { Ledger } from "../ledger.ts";
import type { Projections } from "../projections/projections.ts";

/** `GET /leagues/{league_id}/events?from=VERSION&types=TYPE,…`: the events of a league after a version (PROTOCOL.md, section 4). */
export const streamRoutes =
  (projections: Pick<Projections, "league">, streams: LeagueStreams) =>
  (app: Express): void => {
    app.get("/leagues/:league_id/events", async (request, response) => {
      const league = projections.league(request.params.league_id);
      if (!league) return reject(response, 404, "NOT_FOUND", `no league ${request.params.league_id}`);
      const events = requestedEvents(league, request);
      if (!events.ok) return reject(response, 400, "INVALID_REQUEST", events.error);
      const { leagueId, version } = league;
      const { after } = events.value;
      if (!(await streams.hasVersion(leagueId, after))) {
        const message = `version ${after} is later than version ${version} of league ${leagueId}`;
        return reject(response, 400, "INVALID_REQUEST", message);
      }
      // After 204 an EventSource does not reconnect.
      if (league.status === "completed" && after >= version) return void response.status(204).end();
      if (request.method === "HEAD") return void response.type("text/event-stream").end();
      if (!streams.open(events.value, response)) {
        reject(response, 503, "TOO_MANY_REQUESTS", "too many readers of events; try again later");
      }
    });
  };

const reject = (response: Response, status: number, code: string, message: string): void =>
  void response.status(status).json({ error: { code, message } });

function requestedEvents(league: League, request: Request): Result<RequestedEvents, string> {
  const { leagueId, version } = league;
  const after = requestedVersion(request) ?? version;
  if (after === "invalid") return err("from and Last-Event-ID must be versions: 0, 1, 2, …");
  const types = requestedTypes(request.query.types);
  return types.ok ? ok({ leagueId, after, types: types.value }) : types;
}

/** The version after which the reader continues: that of the header Last-Event-ID, else that of the query; undefined if there is neither. */
function requestedVersion(request: Request): number | "invalid" | undefined {
  const requested = request.get("last-event-id") ?? request.query.from;
  if (requested === undefined) return undefined;
  return typeof requested === "string" && /^\d{1,9}$/.test(requested) ? Number(requested) : "invalid";
}

const KNOWN_TYPES: ReadonlySet<string> = new Set(LEAGUE_EVENT_TYPES);
const MAX_TYPE_CHARACTERS = 50;

/** The types of events that a query names; null if it has no `types`. */
function requestedTypes(requested: unknown): Result<RequestedEvents["types"], string> {
  if (requested === undefined) return ok(null);
  const types = typeof requested === "string" ? requested.split(",") : [];
  const unknown = types.find((type) => !KNOWN_TYPES.has(type));
  if (types.length > 0 && unknown === undefined) return ok(new Set(types as EventType[]));
  const fault =
    unknown === undefined ? "must be one list" : `has the unknown type "${cutTo(MAX_TYPE_CHARACTERS, unknown)}"`;
  return err(`types ${fault}; the types, separated by commas, are ${LEAGUE_EVENT_TYPES.join(", ")}`);
}

/** Streams of server-sent events, one event for each event of a league. */
interface LeagueStreams {
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
type RequestedEvents = Pick<EventReader, "leagueId" | "types"> & { readonly after: number };

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
        response,
        network,
        version: after,
        isFull: false,
        readyAtMs: clock.monotonic(),
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

/** A connection that follows the events of a league. */
interface EventReader {
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
function eventFeed(ledger: Pick<Ledger, "state">, read: ReadEvents, clock: Clock) {
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

/** Consecutive events of a league as server-sent events. */
interface EventChunk {
  /** The version of the last event. */
  readonly version: number;
  readonly bytes: Buffer;
  /** The events in order, each with its end in `bytes`. */
  readonly events: readonly { readonly type: EventType; readonly end: number }[];
}

type EventType = LeagueEvent["type"];

/** Committed events of a league after a version, at most `limit`. */
type ReadEvents = (leagueId: string, after: number, limit: number) => Promise<readonly LeagueEvent[]>;

/** A chunk ends with the event that reaches this size. */
const CHUNK_BYTES = 64 * 1024;
/** Chunks end at versions that are multiples of this number, so that readers that began at different versions share later chunks. */
const ALIGNED_VERSIONS = 64;
/** The number of events per read of the store. The event of a round of 1,000 players has 25 kB. */
const READ_EVENTS = 8;
const CACHE_BYTES = 4 * 1024 * 1024;
/** Estimated memory of a chunk, and of each of its events, in addition to `bytes`. */
const ENTRY_BYTES = 200;
const EVENT_BYTES = 40;

/**
 * Returns a function that gives the chunk after a version, or null if there are no later events. Recently used chunks are cached, so that the
 * readers of a league share their bytes. A cached chunk stays valid, because a committed event never changes.
 */
function eventChunks(read: ReadEvents): (leagueId: string, after: number) => Promise<EventChunk | null> {
  /** In order of use, the least recently used first. */
  const cached = new Map<string, EventChunk>();
  let cachedBytes = 0;
  return async (leagueId, after) => {
    const key = `${after} ${leagueId}`;
    const chunk = cached.get(key) ?? (await chunkAfter(read, leagueId, after));
    if (!chunk) return null;
    const replaced = cached.get(key);
    cached.delete(key);
    cached.set(key, chunk);
    if (replaced === chunk) return chunk;
    cachedBytes += sizeOf(chunk) - (replaced ? sizeOf(replaced) : 0);
    for (const [oldestKey, oldest] of cached) {
      if (cachedBytes <= CACHE_BYTES) break;
      cached.delete(oldestKey);
      cachedBytes -= sizeOf(oldest);
    }
    return chunk;
  };
}

const sizeOf = ({ bytes, events }: EventChunk): number => bytes.length + ENTRY_BYTES + events.length * EVENT_BYTES;

async function chunkAfter(read: ReadEvents, leagueId: string, after: number): Promise<EventChunk | null> {
  const limit = after + ALIGNED_VERSIONS - (after % ALIGNED_VERSIONS);
  const parts: Buffer[] = [];
  const events: { type: EventType; end: number }[] = [];
  let version = after;
  let size = 0;
  while (version < limit && size < CHUNK_BYTES) {
    const count = Math.min(READ_EVENTS, limit - version);
    const found = await read(leagueId, version, count);
    for (const event of found) {
      if (size >= CHUNK_BYTES) break;
      version++;
      const part = Buffer.from(textOf(leagueId, version, event));
      parts.push(part);
      size += part.length;
      events.push({ type: event.type, end: size });
    }
    if (found.length < count) break;
  }
  return parts.length === 0 ? null : { version, bytes: Buffer.concat(parts, size), events };
}

const textOf = (leagueId: string, version: number, event: LeagueEvent): string =>
  `id: ${version}\nevent: ${event.type}\ndata: ${JSON.stringify(publicEvent(leagueId, version, event))}\n\n`;

/**
 * The bytes of a chunk for a reader of these types; null means all types. If the last event is not of these types, only its id is sent: by the rules
 * of server-sent events, a reader then resumes after it and dispatches no event.
 */
function bytesOfTypes({ version, bytes, events }: EventChunk, types: ReadonlySet<EventType> | null): Buffer {
  if (types === null) return bytes;
  const chosen = events.flatMap(({ type, end }, index) =>
    types.has(type) ? [bytes.subarray(events[index - 1]?.end ?? 0, end)] : [],
  );
  const last = events.at(-1);
  if (last && !types.has(last.type)) chosen.push(Buffer.from(`id: ${version}\n\n`));
  return Buffer.concat(chosen);
}

/** An event as readers of the league's stream receive it: without the fields that only operators may know (PROTOCOL.md, section 4). */
function publicEvent(leagueId: string, version: number, event: LeagueEvent): Readonly<Record<string, unknown>> {
  const { v: _, at, type, ...fields } = event;
  for (const hidden of HIDDEN[type] ?? []) delete (fields as Record<string, unknown>)[hidden];
  // The field is part of the format, so its text is replaced instead of removed.
  if (event.type === "match_aborted")
    Object.assign(fields, { reason: publicReason({ ...event, termination: "aborted" }) });
  return { league_id: leagueId, version, type, at, ...fields };
}

/** `detail` may contain addresses. `run_id` identifies the messages of a run to its referees, so it is not public. */
const HIDDEN: Readonly<Partial<Record<LeagueEvent["type"], readonly string[]>>> = {
  opened: ["run_id"],
  player_entered: ["name_commitment"],
  match_released: ["detail"],
};
