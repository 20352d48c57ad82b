import type { Cancel, Clock } from "#shared/lib/clock.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { Ledger } from "../../ledger.ts";
import { addTo, Frames, type RelayedMatch } from "./frames.ts";
import { matchesToDrop } from "./relay-memory.ts";
import { targetOf } from "./relay-target.ts";
import { Slots } from "./slots.ts";

interface RelayOptions {
  readonly ledger: Pick<Ledger, "state" | "onCommit">;
  readonly openEventStream: Network["openEventStream"];
  readonly clock: Clock;
  /** The maximum number of characters of the views of all matches. */
  readonly maxCharacters?: number;
}

/** A watched match. */
interface Watched {
  readonly leagueId: string;
  readonly matchId: string;
  frames: Frames;
  readonly readers: Set<() => void>;
  /** Aborted when the last reader has left. */
  readonly ended: AbortController;
  state: RelayedMatch["state"];
  /** The attempt and the referee of the connection; empty without one. */
  target: string;
  /** Whether the frames of this target were dropped, because the views of all matches were too large. */
  isDropped: boolean;
  /** Ends the current connection, or the pause before the next one. */
  retry: AbortController;
  /** The monotonic time of the last read by `read`. */
  readAtMs: number;
  stopLinger: Cancel | null;
}

/** The maximum number of matches that are connected to their referees at the same time. */
const MAX_CONNECTED = 100;
/** The views of a hundred long games of chess have 10 million characters. */
const MAX_CHARACTERS = 100_000_000;
/** The time for the beginning of a referee's answer. */
const MAX_HEADERS_MS = 10_000;
/** Referees send a comment every 15 seconds. A referee that sends nothing for this time is disconnected. */
const MAX_SILENCE_MS = 45_000;
const FIRST_PAUSE_MS = 250;
/** The pause before the next connection is doubled up to this time. */
const LAST_PAUSE_MS = 2_000;
/** A page that fetches a document repeatedly keeps the connection for this time after each request. */
const LINGER_MS = 5_000;

const NO_CONTENT = 204;
const NOT_FOUND = 404;

/**
 * How a connection to a referee has ended. `live`: it had shown the match. `over`: the session has no further view. `waiting`: the match is not being
 * played.
 */
type End = "live" | "lost" | "absent" | "limit" | "large" | "over" | "waiting";
const FAULTS: ReadonlySet<End> = new Set(["lost", "absent", "limit", "large"]);
/** After these ends only an event of the league, or a connection that becomes free, changes what is shown. */
const FINAL: ReadonlySet<End> = new Set(["limit", "large", "over", "waiting"]);

/**
 * Relays what spectators see of matches that are being played: one connection to the referee for each watched match, from the first reader to the
 * last. The connection follows the match to another referee and to another attempt. A match that is not being played has neither connection nor frames.
 */
export class MatchRelay {
  readonly #options: RelayOptions;
  readonly #watched = new Map<string, Watched>();
  /** The matches that are being played, with a connection or a pause before the next one. */
  readonly #connected = new Slots<Watched>(MAX_CONNECTED);
  #stopListening: (() => void) | null = null;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** Follows a match and calls `changed` after each change, until the returned function is called. */
  watch(leagueId: string, matchId: string, changed: () => void): () => void {
    const key = keyOf(leagueId, matchId);
    const watched = this.#watched.get(key) ?? this.#begin(key, leagueId, matchId);
    const reader = (): void => changed();
    watched.readers.add(reader);
    return () => {
      watched.readers.delete(reader);
      if (watched.readers.size === 0) this.#end(key, watched);
    };
  }

  /** Returns a match that is being played. If no reader watches it, it is followed for a short time. */
  read(leagueId: string, matchId: string): RelayedMatch {
    const { clock } = this.#options;
    const key = keyOf(leagueId, matchId);
    const watched = this.#watched.get(key) ?? this.#begin(key, leagueId, matchId);
    watched.readAtMs = clock.monotonic();
    if (watched.readers.size === 0) this.#linger(watched);
    const { session, list, turnStartMs } = watched.frames;
    return { session, frames: list, elapsedMs: Math.round(clock.monotonic() - turnStartMs), state: watched.state };
  }

  /** The number of watched matches. */
  count(): number {
    return this.#watched.size;
  }

  /** Ends all connections. */
  close(): void {
    for (const [key, watched] of this.#watched) this.#end(key, watched);
  }

  #begin(key: string, leagueId: string, matchId: string): Watched {
    const watched: Watched = {
      ...{ leagueId, matchId, frames: new Frames(), readers: new Set<() => void>(), ended: new AbortController() },
      ...{
        state: "connecting",
        target: "",
        isDropped: false,
        retry: new AbortController(),
        readAtMs: 0,
        stopLinger: null,
      },
    };
    this.#watched.set(key, watched);
    this.#stopListening ??= this.#options.ledger.onCommit(() => {
      // A match that has another referee or another attempt needs another connection.
      for (const one of this.#watched.values())
        if (targetOf(this.#options.ledger.state, one).key !== one.target) one.retry.abort();
    });
    void this.#follow(watched);
    return watched;
  }

  #end(key: string, watched: Watched): void {
    watched.stopLinger?.();
    watched.ended.abort();
    watched.retry.abort();
    if (this.#watched.get(key) === watched) this.#watched.delete(key);
    this.#connected.release(watched)?.retry.abort();
    if (this.#watched.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = null;
  }

  /** Keeps a match without readers until no reader has read it for a time. */
  #linger(watched: Watched): void {
    if (watched.stopLinger) return;
    const { clock } = this.#options;
    const stay = (): void => {
      watched.stopLinger = null;
      const restMs = watched.readAtMs + LINGER_MS - clock.monotonic();
      if (restMs > 0) watched.stopLinger = clock.after(restMs, stay);
      else if (watched.readers.size === 0) this.#end(keyOf(watched.leagueId, watched.matchId), watched);
    };
    watched.stopLinger = clock.after(LINGER_MS, stay);
  }

  /** Connects to the referee of a match again and again until the last reader has left. */
  async #follow(watched: Watched): Promise<void> {
    const { clock } = this.#options;
    let pauseMs = FIRST_PAUSE_MS;
    while (!watched.ended.signal.aborted) {
      const { key, url } = targetOf(this.#options.ledger.state, watched);
      if (key !== watched.target) {
        pauseMs = FIRST_PAUSE_MS;
        watched.isDropped = false;
      }
      watched.target = key;
      watched.retry = new AbortController();
      const { signal } = watched.retry;
      const end = url === null ? this.#forget(watched) : await this.#connect(watched, url, signal);
      if (watched.ended.signal.aborted) return;
      if (end === "live") pauseMs = FIRST_PAUSE_MS;
      if (signal.aborted) continue;
      if (FAULTS.has(end)) this.#set(watched, end as Watched["state"]);
      if (FINAL.has(end)) await abortOf(signal);
      else await clock.pause(pauseMs, signal);
      pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS);
    }
  }

  /** Drops what is known of a match that is not being played. When it is completed, its log replaces the frames. */
  #forget(watched: Watched): "waiting" {
    watched.frames = new Frames();
    watched.state = "connecting";
    this.#connected.release(watched)?.retry.abort();
    return "waiting";
  }

  /** Follows a match over one connection. */
  async #connect(watched: Watched, url: string, signal: AbortSignal): Promise<End> {
    if (watched.isDropped) return "limit";
    if (!this.#connected.reserve(watched)) return "limit";
    const { frames } = watched;
    let isLive = false;
    try {
      const { session, lastEventId } = frames;
      const limits = { clock: this.#options.clock, headersMs: MAX_HEADERS_MS, silenceMs: MAX_SILENCE_MS };
      const known = session === null ? url : `${url}?session=${encodeURIComponent(session)}`;
      const { status, events } = await this.#options.openEventStream(known, { signal, lastEventId, limits });
      if (status === NO_CONTENT) return "over";
      if (status !== 200) return status === NOT_FOUND ? "absent" : "lost";
      // The referee sends nothing if there is no frame after the last one.
      if (lastEventId !== undefined) this.#set(watched, "live");
      for await (const { event, data, id } of events) {
        if (event !== "match") continue;
        const added = addTo(frames, data, id, this.#options.clock.monotonic());
        if (added !== "added") return added;
        this.#limitMemory();
        if (watched.isDropped) return "limit";
        isLive = true;
        this.#set(watched, "live");
      }
    } catch {
      // The referee does not answer, or the connection was lost.
    }
    return isLive ? "live" : "lost";
  }

  /** Drops frames while the views of all matches are too large. */
  #limitMemory(): void {
    for (const dropped of matchesToDrop(this.#connected.holders, this.#options.maxCharacters ?? MAX_CHARACTERS)) {
      dropped.frames = new Frames();
      dropped.isDropped = true;
      dropped.retry.abort();
    }
  }

  #set(watched: Watched, state: Watched["state"]): void {
    watched.state = state;
    for (const reader of watched.readers) reader();
  }
}

/** Resolves when a signal is aborted. */
const abortOf = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));

const keyOf = (leagueId: string, matchId: string): string => `${leagueId}/${matchId}`;
