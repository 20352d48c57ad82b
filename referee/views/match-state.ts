import type { Viewer } from "#shared/games/game.ts";
import type { Session } from "#shared/session/session.ts";
import type { GameView } from "#shared/web/game-view.ts";
import type { Lobby } from "../sessions/lobby.ts";
import { viewFor } from "./session-views.ts";

interface MatchStateContext {
  readonly host: { readonly lobby: Lobby };
  readonly referee: { readonly names: { restartOf(sessionId: string): Pick<GameView, "restart"> } };
}

/** The view of a session in `get_game_state` and the resource `game://state/{match_id}`. */
export function matchState(session: Session, viewer: Viewer, { host, referee }: MatchStateContext): object {
  const isWaiting = host.lobby.waiting(session) !== null;
  const { status, tick, shownState, legalActions } = viewFor(session, viewer, isWaiting);
  return {
    session_id: session.id,
    game: session.game.id,
    status,
    tick,
    state: shownState,
    ...(viewer !== "spectator" && { your_role: viewer, legal_actions: legalActions }),
    termination: session.termination,
    reason: session.reason,
    ...(session.turnClocks && { clock: session.turnClocks }),
    ...referee.names.restartOf(session.id),
  };
}
