import { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import { ClockState } from "#shared/lib/time-control.ts";
import type { Frame } from "#shared/web/replay-view.ts";
import { movesOf } from "./replay.ts";

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
export class Frames {
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
export function addTo(frames: Frames, data: string, eventId: string, nowMs: number): "added" | "large" | "lost" {
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
    ...{ status, tick, to_act, ...moves },
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
