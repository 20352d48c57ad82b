import type { Viewer } from "#shared/games/game.ts";
import type { Session } from "#shared/session/session.ts";
import type { Lobby } from "../sessions/lobby.ts";
import { viewFor } from "./session-views.ts";

/** The view of a session in `get_game_state` and the resource `game://state/{match_id}`. */
export function matchState(session: Session, viewer: Viewer, lobby: Lobby): object {
  const { status, tick, state, legalActions } = viewFor(session, viewer, lobby.waiting(session) !== null);
  return {
    session_id: session.id,
    game: session.game.id,
    status,
    tick,
    state,
    ...(viewer !== "spectator" && { your_role: viewer, legal_actions: legalActions }),
    termination: session.termination,
    reason: session.reason,
    ...(session.turnClocks && { clock: session.turnClocks }),
  };
}
