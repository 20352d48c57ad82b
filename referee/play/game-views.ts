import type { Role, Viewer } from "#shared/games/game.ts";
import { parseEntry } from "#shared/session/entry.ts";
import type { Session } from "#shared/session/session.ts";
import { resultOf } from "#shared/session/verdict.ts";
import type { GameView, PlayerView } from "#shared/web/game-view.ts";
import type { Kept } from "../host.ts";
import type { Lobby } from "../lobby.ts";
import { tickFor } from "../rest/views.ts";
import { viewOf } from "../state-view.ts";
import { playerOf } from "../tables.ts";
import type { PlaySeat } from "./seats.ts";

/** A game as one viewer may see it: through `viewState`, and of the log only what belongs to turns that are closed. */
export function gameView(
  session: Session,
  viewer: Viewer,
  rows: Kept["rows"],
  seats: readonly PlaySeat[],
  lobby: Lobby,
): GameView {
  const { game, state, status } = session;
  const isWaiting = lobby.waiting(session) !== null;
  const toAct = isWaiting ? [] : toActFor(session, viewer);
  return {
    game_id: session.id,
    template: game.id,
    name: game.info.name,
    status: isWaiting ? "waiting_for_players" : status,
    tick: tickFor(session, viewer),
    your_role: viewer,
    roles: game.roles,
    players: Object.fromEntries(game.roles.map((role) => [role, seatedAt(session, role, seats)])),
    to_act: toAct,
    state: viewOf(session, viewer, isWaiting),
    legal_actions: toAct.includes(viewer) ? game.legalActions(state, viewer) : [],
    board: game.toText(state, viewer),
    last_action: lastAction(session, rows),
    result: status === "completed" ? resultOf(session) : null,
  };
}

/** Nobody but the roles themselves is told who of them has chosen while a turn is open. */
function toActFor({ game, state, status }: Session, viewer: Viewer): readonly Role[] {
  if (status === "completed") return [];
  const toAct = game.toAct(state);
  return viewer === "spectator" && game.info.simultaneous && toAct.length > 0 ? game.roles : toAct;
}

/** Players of a league match have no seat of their own. */
function seatedAt({ participants }: Session, role: Role, seats: readonly PlaySeat[]): PlayerView {
  const seat = seats.find((one) => one.role === role);
  if (seat) return { kind: seat.kind, name: seat.name, joined: seat.joined };
  return { kind: "agent", name: playerOf(participants[role] ?? role), joined: true };
}

function lastAction({ turnTick }: Session, rows: Kept["rows"]): GameView["last_action"] {
  // An open turn has as many choices as the game has roles, at the most.
  for (const row of rows.slice(-MAX_OPEN).reverse()) {
    const entry = parseEntry(row.body);
    if (entry.type === "acted" && entry.tick < turnTick)
      return { role: entry.role, action: entry.action, tick: entry.tick };
  }
  return null;
}

const MAX_OPEN = 6;

/** What comes next for a role: `waiting_for_user` when a person has to move. */
export type Next = "your_turn" | "waiting_for_user" | "waiting_for_opponent" | "game_over";

export function nextFor(session: Session, role: Role, seats: readonly PlaySeat[], lobby: Lobby): Next {
  if (session.status === "completed") return "game_over";
  if (lobby.waiting(session)) return "waiting_for_opponent";
  const toAct = session.game.toAct(session.state);
  if (toAct.includes(role)) return "your_turn";
  const isPerson = seats.some((seat) => seat.kind === "human" && toAct.includes(seat.role));
  return isPerson ? "waiting_for_user" : "waiting_for_opponent";
}
