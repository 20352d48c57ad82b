import type { Viewer } from "#shared/games/game.ts";
import type { Session } from "#shared/session/session.ts";

/** A session for one viewer, through `viewState` alone. */
export function shown(session: Session, viewer: Viewer): object {
  const { game } = session;
  return {
    session_id: session.id,
    game: game.id,
    status: session.status,
    tick: viewer === "spectator" ? session.turnTick : session.tick,
    state: game.viewState(session.state, viewer),
    ...(viewer !== "spectator" && {
      your_role: viewer,
      legal_actions: session.status === "active" ? game.legalActions(session.state, viewer) : [],
    }),
    termination: session.termination,
    reason: session.reason,
  };
}
