import type { Game } from "#shared/games/game.ts";
import { moveText } from "#shared/games/move-text.ts";
import { shownView } from "#shared/games/view-history.ts";
import { replayTexts } from "#shared/session/replay.ts";
import type { Session } from "#shared/session/session.ts";
import { resultOf } from "#shared/session/verdict.ts";
import { viewOf } from "#shared/session/view.ts";
import type { Frame, Replay } from "#shared/web/game-view.ts";
import { publicReason } from "../../league/outcome.ts";

/** The fields of a completed match that its replay needs. */
export interface PlayedMatch {
  readonly match_id: string;
  /** Role to player. */
  readonly roles: Readonly<Record<string, string>>;
  readonly termination: "normal" | "forfeit" | "aborted";
  readonly reason: string;
  readonly seed: string;
  /** The stored texts of the entries; empty for a match that was not played. */
  readonly log: readonly string[];
}

/** The data of a game that do not change during a match, by the names of its players. */
export const replayedGame = (
  game: Game,
  sessionId: string,
  roles: PlayedMatch["roles"],
  nameOf: (playerId: string) => string,
): Replay["game"] => ({
  game_id: sessionId,
  template: game.id,
  name: game.info.name,
  your_role: "spectator",
  roles: game.roles,
  legal_actions: [],
  players: Object.fromEntries(
    Object.entries(roles).map(([role, id]) => [role, { kind: "agent", name: nameOf(id), joined: true }] as const),
  ),
});

/**
 * Returns a match as a spectator has seen it, step by step. Returns null for a match without actions, or of a game that this process does not know.
 * `nameOf` returns the name of a player.
 */
export function replayOf(match: PlayedMatch, nameOf: (playerId: string) => string): Replay | null {
  const { replayed, frames, hasActions } = framesOf(match);
  if (!replayed.ok || !hasActions) return null;
  const { session } = replayed.value;
  return { game: replayedGame(session.game, session.id, match.roles, nameOf), frames };
}

interface ReplayedFrames {
  readonly replayed: ReturnType<typeof replayTexts>;
  readonly frames: readonly Frame[];
  readonly hasActions: boolean;
}

/** Returns the frames of a match: the start, and each closed turn. There are none if its log cannot be replayed. */
export function framesOf(match: Pick<PlayedMatch, "log" | "seed" | "termination" | "reason">): ReplayedFrames {
  const frames: Frame[] = [];
  let hasActions = false;
  let before: Session | null = null;
  let turn: TurnAction[] = [];
  const replayed = replayTexts(match.log, match.seed, (session, entry) => {
    if (entry.type === "acted") {
      hasActions = true;
      turn.push({ role: entry.role, action: entry.action, tick: entry.tick });
    }
    // Spectators do not see a choice before the turn is closed.
    const isTurnClosed = session.turnTick === session.tick;
    if (!isTurnClosed && session.status === "active") return;
    if (entry.type === "created") frames.push(frameOf(session, NO_MOVES));
    else if (entry.type === "acted" && before) {
      frames.push(frameOf(session, movesOf(session.game, before.state, turn)));
      turn = [];
    } else {
      const { last_action, moves } = frames.at(-1) ?? NO_MOVES;
      frames.splice(-1, 1, frameOf(session, { last_action, moves }));
    }
    before = session;
  });
  if (!replayed.ok) return { replayed, frames: [], hasActions };
  const end = frames.at(-1);
  if (end?.result) frames.splice(-1, 1, { ...end, result: { ...end.result, reason: publicReason(match) } });
  return { replayed, frames, hasActions };
}

/** An action of a closed turn. */
type TurnAction = NonNullable<Frame["last_action"]>;

type Moves = Pick<Frame, "last_action" | "moves">;
const NO_MOVES: Moves = { last_action: null, moves: [] };

/** Returns the actions of a turn as a frame has them. `before` is the state, or a spectator's view, before the turn. */
export const movesOf = (game: Game, before: unknown, turn: readonly TurnAction[]): Moves => ({
  last_action: turn.at(-1) ?? null,
  moves: turn.map(({ role, action }) => ({ role, text: moveText(game, before, action) })),
});

function frameOf(session: Session, moves: Moves): Frame {
  const { game, state, status, tick, turnClocks } = session;
  const view = viewOf(session, "spectator");
  return {
    status,
    tick,
    ...moves,
    to_act: status === "active" ? game.toAct(state) : [],
    state: game.info.board === undefined ? null : shownView(game.info, view),
    // A graphical board needs no text.
    board: game.info.board === undefined ? game.toText(view, "spectator") : "",
    result: status === "completed" ? resultOf(session) : null,
    ...(turnClocks && { clock: turnClocks }),
  };
}
