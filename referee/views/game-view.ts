import type { Role, Viewer } from "#shared/games/game.ts";
import type { RecordedEvent } from "#shared/lib/hash.ts";
import type { Session } from "#shared/session/session.ts";
import { resultOf } from "#shared/session/verdict.ts";
import type { GameView, PlayerView } from "#shared/web/game-view.ts";
import { playerOf } from "../agents.ts";
import type { Lobby } from "../sessions/lobby.ts";
import type { PlaySeat } from "../sessions/seats.ts";
import { lastClosedAction } from "./log-view.ts";
import { driverView, viewFor } from "./session-views.ts";
import { clockField } from "./shown-clock.ts";

/** The view of a session for the pages, boards and tools of games. `rows` is its log. */
export function gameView(
  session: Session,
  viewer: Viewer,
  rows: readonly RecordedEvent[],
  seats: readonly PlaySeat[],
  lobby: Lobby,
  nowMs: number,
): GameView {
  const { game } = session;
  const isWaiting = lobby.waiting(session) !== null;
  const { status, tick, toAct, shownState, legalActions, board } = viewFor(session, viewer, isWaiting);
  const last = lastClosedAction(session, rows);
  return {
    game_id: session.id,
    template: game.id,
    name: game.info.name,
    status,
    tick,
    your_role: viewer,
    roles: game.roles,
    players: Object.fromEntries(game.roles.map((role) => [role, playerAt(session, role, seats)])),
    to_act: toAct,
    state: shownState,
    legal_actions: legalActions,
    board,
    last_action: last && { role: last.role, action: last.action, tick: last.tick },
    result: status === "completed" ? resultOf(session) : null,
    ...clockField(session, rows, lobby, nowMs),
  };
}

/** The player of a role. The players of a league match have no row in the table of seats. */
function playerAt({ participants }: Session, role: Role, seats: readonly PlaySeat[]): PlayerView {
  const seat = seats.find((candidate) => candidate.role === role);
  if (seat) return { kind: seat.kind, name: seat.name, joined: seat.joined };
  return { kind: "agent", name: playerOf(participants[role] ?? role), joined: true };
}

/** The next step for a role: `waiting_for_user` when a person is to move. */
export type Next = "your_turn" | "waiting_for_user" | "waiting_for_opponent" | "game_over";

export function nextFor(session: Session, role: Role, seats: readonly PlaySeat[], lobby: Lobby): Next {
  if (session.status === "completed") return "game_over";
  if (lobby.waiting(session)) return "waiting_for_opponent";
  const { toAct } = driverView(session);
  if (toAct.includes(role)) return "your_turn";
  const isPerson = seats.some((seat) => seat.kind === "human" && toAct.includes(seat.role));
  return isPerson ? "waiting_for_user" : "waiting_for_opponent";
}
