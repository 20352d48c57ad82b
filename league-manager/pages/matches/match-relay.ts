import { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import type { Cancel, Clock } from "#shared/lib/clock.ts";
import { ClockState } from "#shared/lib/time-control.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { Frame } from "#shared/web/game-view.ts";
import { matchOf } from "../../league/evolve.ts";
import type { Ledger } from "../../ledger.ts";
import { movesOf } from "./match-replay.ts";

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
      leagueId,
      matchId,
      frames: new Frames(),
      readers: new Set<() => void>(),
      ended: new AbortController(),
      state: "connecting",
      target: "",
      isDropped: false,
      retry: new AbortController(),
      readAtMs: 0,
      stopLinger: null,
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

const role = z.string().max(100);
const TurnAction = z.object({ role, action: z.unknown(), tick: z.int().min(0) });

/** A match as its referee shows it to spectators (PROTOCOL.md). Other fields are ignored. */
const MatchView = z.object({
  game_id: z.string().max(200),
  template: z.string().max(200),
  status: z.enum(["waiting_for_players", "active", "completed"]),
  tick: z.int().min(0),
  to_act: z.array(role).max(100),
  state: z.unknown(),
  board: z.string().max(100_000),
  /** The actions of the last closed turn. */
  last_turn: z.array(TurnAction).max(100),
  result: z
    .object({
      winners: z.array(role).max(100),
      winner: role.nullable(),
      reason: z.string().max(2_000),
      termination: z.enum(["normal", "forfeit", "aborted", "expired"]),
    })
    .nullable(),
  clock: ClockState.extend({ elapsed_ms: z.number().min(0).optional() }).optional(),
});
type MatchView = z.infer<typeof MatchView>;

/** A match as its referee shows it to spectators. */
export interface RelayedMatch {
  /** The id of the session; null before the first frame. */
  readonly session: string | null;
  readonly frames: readonly Frame[];
  /** The time since the turn of the last frame began. */
  readonly elapsedMs: number;
  /**
   * `lost`: the referee does not answer. `absent`: the referee does not show the match. `limit`: too many matches are watched, or their views need too
   * much memory together. `large`: the views of the match need too much memory, so the last ones are missing.
   */
  readonly state: "connecting" | "live" | "lost" | "absent" | "limit" | "large";
}

/** A match has at most 20,000 log entries. */
const MAX_FRAMES = 20_000;
/** The maximum number of characters of the views of one match. A long game of chess has 100,000. */
const MAX_MATCH_CHARACTERS = 20_000_000;

/** The frames of one session, from the views of its referee. Their numbers equal those of its replay. */
class Frames {
  /** The id of the session; null before the first view. */
  session: string | null = null;
  /** The id of the event of the last view. The referee continues after it. */
  lastEventId: string | undefined = undefined;
  /** The monotonic time at which the turn of the last view began. */
  turnStartMs = 0;
  readonly #frames: Frame[] = [];
  /** The number of characters of the view of each frame. */
  readonly #sizes: number[] = [];
  #characters = 0;
  /** The views of the last frame and of the one before it, in this order. */
  #last: readonly MatchView[] = [];

  /** The number of characters of the views. */
  get characters(): number {
    return this.#characters;
  }

  get list(): readonly Frame[] {
    return this.#frames;
  }

  /** Adds a view, which is JSON and was received at the monotonic time `nowMs`. A view of another session replaces all. Returns false if the match has become too large. Throws if it is not a view. */
  add(data: string, eventId: string, nowMs: number): boolean {
    const view = MatchView.parse(JSON.parse(data));
    if (view.game_id !== this.session) this.#truncate(0);
    this.session = view.game_id;
    // A view of a known tick replaces it: the players have joined, or the match has ended without a further turn.
    let index = this.#frames.length;
    while (index > 0 && (this.#frames[index - 1]?.tick ?? 0) >= view.tick) index--;
    if (index >= MAX_FRAMES || this.#characters + data.length > MAX_MATCH_CHARACTERS) return false;
    const before = this.#viewBefore(index);
    const frame = frameOf(view, before);
    this.#truncate(index);
    this.#frames.push(frame);
    this.#sizes.push(data.length);
    this.#characters += data.length;
    this.#last = before ? [view, before] : [view];
    this.lastEventId = eventId;
    this.turnStartMs = nowMs - (view.clock?.elapsed_ms ?? 0);
    return true;
  }

  /** Returns the view before a frame; undefined if it is not one of the last two. */
  #viewBefore(index: number): MatchView | undefined {
    return this.#last[this.#frames.length - index];
  }

  #truncate(length: number): void {
    for (const size of this.#sizes.splice(length)) this.#characters -= size;
    this.#frames.length = length;
    if (length === 0) this.#last = [];
  }

  /** The next connection begins with the first view, because the last one may have been misunderstood. */
  restart(): void {
    this.lastEventId = undefined;
  }
}

/** Adds a view of the referee, which is untrusted input. If it is no view, the next connection begins with the first view. */
function addTo(frames: Frames, data: string, eventId: string, nowMs: number): "added" | "large" | "lost" {
  try {
    return frames.add(data, eventId, nowMs) ? "added" : "large";
  } catch {
    frames.restart();
    return "lost";
  }
}

function frameOf(view: MatchView, before: MatchView | undefined): Frame {
  const { template, status, tick, to_act, state, board, last_turn, result } = view;
  const game = findGame(template);
  const hasBoard = game?.info.board !== undefined;
  const moves = game && before ? movesOf(game, before.state, last_turn) : { last_action: null, moves: [] };
  return {
    status,
    tick,
    to_act,
    ...moves,
    state: hasBoard ? state : null,
    board: hasBoard ? "" : board,
    // The reason of an abort may quote an error with addresses of the referee.
    result: result && { ...result, reason: result.termination === "aborted" ? "aborted" : result.reason },
    ...clocksOf(view),
  };
}

/** The clocks without the time since the start of the turn, which passes. */
function clocksOf({ clock }: MatchView): Pick<Frame, "clock"> {
  if (!clock) return {};
  const { elapsed_ms: _, ...atTurn } = clock;
  return { clock: atTurn };
}

/** Where a match that is being played is shown. */
interface RelayTarget {
  /** Identifies the attempt and the referee; empty if the match is not being played. */
  readonly key: string;
  /** The address at which the referee shows the match; null if it is not being played. */
  readonly url: string | null;
}

/** Returns where the referee of a match shows it. */
function targetOf(
  { leagues, agents }: Ledger["state"],
  { leagueId, matchId }: { readonly leagueId: string; readonly matchId: string },
): RelayTarget {
  const league = leagues.get(leagueId);
  const match = league && matchOf(league, matchId);
  const referee = match?.status === "assigned" && match.refereeId !== null ? agents.get(match.refereeId) : undefined;
  if (!match || !referee) return { key: "", url: null };
  const { endpoint } = referee;
  return {
    key: `${match.epoch} ${match.refereeId} ${endpoint}`,
    url: `${endpoint.replace(/\/mcp\/?$/, "")}/api/matches/${encodeURIComponent(leagueId)}/${encodeURIComponent(matchId)}/events`,
  };
}

/** The memory that the views of a relayed match take. */
interface RelayedViews {
  readonly frames: { readonly characters: number };
  readonly readers: { readonly size: number };
  readonly readAtMs: number;
}

/**
 * Returns the matches whose views are dropped, so that those of all matches have at most `maxCharacters`: first the matches that no reader follows, the one
 * that was read longest ago first, and then the largest ones.
 */
function matchesToDrop<Match extends RelayedViews>(all: Iterable<Match>, maxCharacters: number): readonly Match[] {
  const matches = [...all].filter(({ frames }) => frames.characters > 0);
  let characters = matches.reduce((sum, { frames }) => sum + frames.characters, 0);
  if (characters <= maxCharacters) return [];
  const inOrder = matches.sort(
    (one, other) =>
      Math.sign(one.readers.size) - Math.sign(other.readers.size) ||
      (one.readers.size === 0 ? one.readAtMs - other.readAtMs : other.frames.characters - one.frames.characters),
  );
  const kept = inOrder.findIndex(({ frames }) => {
    if (characters <= maxCharacters) return true;
    characters -= frames.characters;
    return false;
  });
  return kept < 0 ? inOrder : inOrder.slice(0, kept);
}

/** A limited number of slots. Holders that find none wait in a queue. */
class Slots<Holder> {
  readonly #limit: number;
  readonly #holders = new Set<Holder>();
  readonly #queue = new Set<Holder>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The holders of slots, the earliest first. */
  get holders(): ReadonlySet<Holder> {
    return this.#holders;
  }

  /** Takes a slot, or keeps the one that the holder has. Returns false if there is none; the holder then waits in the queue. */
  reserve(holder: Holder): boolean {
    if (this.#holders.size >= this.#limit && !this.#holders.has(holder)) {
      this.#queue.add(holder);
      return false;
    }
    this.#queue.delete(holder);
    this.#holders.add(holder);
    return true;
  }

  /** Gives up the slot of a holder, or its place in the queue. Returns the holder that has waited longest if it can now reserve a slot. */
  release(holder: Holder): Holder | null {
    this.#holders.delete(holder);
    this.#queue.delete(holder);
    const [next] = this.#queue;
    if (next === undefined || this.#holders.size >= this.#limit) return null;
    this.#queue.delete(next);
    return next;
  }
}
