import type { Viewer } from "#shared/games/game.ts";
import type { Session } from "#shared/session/session.ts";
import type { Lobby } from "./lobby.ts";

/** The game's view for one viewer; while players are missing with the phase that some games have for that. */
export function viewOf({ game, state }: Session, viewer: Viewer, isWaiting: boolean): unknown {
  const view = game.viewState(state, viewer);
  return isWaiting && game.waitingView ? game.waitingView(view) : view;
}

/** A session for one viewer, through `viewState` alone. */
export function shown(session: Session, viewer: Viewer, lobby: Lobby): object {
  const { game } = session;
  const isWaiting = lobby.waiting(session) !== null;
  const mayAct = session.status === "active" && !isWaiting;
  return {
    session_id: session.id,
    game: game.id,
    status: isWaiting ? "waiting_for_players" : session.status,
    tick: viewer === "spectator" ? session.turnTick : session.tick,
    state: viewOf(session, viewer, isWaiting),
    ...(viewer !== "spectator" && {
      your_role: viewer,
      legal_actions: mayAct ? game.legalActions(session.state, viewer) : [],
    }),
    termination: session.termination,
    reason: session.reason,
  };
}
