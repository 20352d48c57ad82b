import type { LeagueEvent } from "../league/events.ts";
import { publicEvent } from "./public-events.ts";

/** Consecutive events of a league as server-sent events. */
export interface EventChunk {
  /** The version of the last event. */
  readonly version: number;
  readonly bytes: Buffer;
}

/** Committed events of a league after a version, at most `limit`. */
export type ReadEvents = (leagueId: string, after: number, limit: number) => readonly LeagueEvent[];

/** A chunk ends with the event that reaches this size. */
const CHUNK_BYTES = 64 * 1024;
/** Chunks end at multiples of this version, so that readers that began at different versions come to share chunks. */
const ALIGNED = 64;
/** Events of one read of the store. An event of a round of 1,000 players has 25 kB. */
const READ_EVENTS = 8;
const CACHE_BYTES = 4 * 1024 * 1024;
/** About what an entry of the cache needs besides its bytes. */
const ENTRY_BYTES = 200;

/**
 * The chunk that follows a version; null if there are no later events. Chunks that were used recently are kept, so that the readers of a
 * league share their bytes. A committed event never changes, so a kept chunk stays valid.
 */
export function eventChunks(read: ReadEvents): (leagueId: string, after: number) => EventChunk | null {
  /** The least recently used first. */
  const kept = new Map<string, EventChunk>();
  let keptBytes = 0;
  return (leagueId, after) => {
    const key = `${after} ${leagueId}`;
    const known = kept.get(key);
    const chunk = known ?? chunkAfter(read, leagueId, after);
    if (!chunk) return null;
    kept.delete(key);
    kept.set(key, chunk);
    if (known) return chunk;
    keptBytes += chunk.bytes.length + ENTRY_BYTES;
    for (const [oldest, { bytes }] of kept) {
      if (keptBytes <= CACHE_BYTES) break;
      kept.delete(oldest);
      keptBytes -= bytes.length + ENTRY_BYTES;
    }
    return chunk;
  };
}

function chunkAfter(read: ReadEvents, leagueId: string, after: number): EventChunk | null {
  const end = after + ALIGNED - (after % ALIGNED);
  const parts: Buffer[] = [];
  let version = after;
  let size = 0;
  while (version < end && size < CHUNK_BYTES) {
    const limit = Math.min(READ_EVENTS, end - version);
    const events = read(leagueId, version, limit);
    for (const event of events) {
      if (size >= CHUNK_BYTES) break;
      version++;
      const part = Buffer.from(textOf(leagueId, version, event));
      parts.push(part);
      size += part.length;
    }
    if (events.length < limit) break;
  }
  return parts.length === 0 ? null : { version, bytes: Buffer.concat(parts, size) };
}

const textOf = (leagueId: string, version: number, event: LeagueEvent): string =>
  `id: ${version}\nevent: ${event.type}\ndata: ${JSON.stringify(publicEvent(leagueId, version, event))}\n\n`;
