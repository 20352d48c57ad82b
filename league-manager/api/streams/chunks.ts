import type { LeagueEvent } from "../../league/events.ts";
import { publicEvent } from "./public-events.ts";

/** Consecutive events of a league as server-sent events. */
interface EventChunk {
  /** The version of the last event. */
  readonly version: number;
  readonly bytes: Buffer;
  /** The events in order, each with its end in `bytes`. */
  readonly events: readonly { readonly type: EventType; readonly end: number }[];
}

export type EventType = LeagueEvent["type"];

/** Committed events of a league after a version, at most `limit`. */
export type ReadEvents = (leagueId: string, after: number, limit: number) => Promise<readonly LeagueEvent[]>;

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
export function eventChunks(read: ReadEvents): (leagueId: string, after: number) => Promise<EventChunk | null> {
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
export function bytesOfTypes({ version, bytes, events }: EventChunk, types: ReadonlySet<EventType> | null): Buffer {
  if (types === null) return bytes;
  const chosen = events.flatMap(({ type, end }, index) =>
    types.has(type) ? [bytes.subarray(events[index - 1]?.end ?? 0, end)] : [],
  );
  const last = events.at(-1);
  if (last && !types.has(last.type)) chosen.push(Buffer.from(`id: ${version}\n\n`));
  return Buffer.concat(chosen);
}
