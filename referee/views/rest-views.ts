import type { Viewer } from "#shared/games/game.ts";
import type { Session } from "#shared/session/session.ts";
import type { StoredSession } from "../sessions/live-sessions.ts";
import { actionsFor } from "./log-view.ts";
import { viewFor } from "./session-views.ts";

/** The body of `GET /sessions/{id}/state`. */
export function restState(session: Session, viewer: Viewer) {
  const { tick, state, legalActions } = viewFor(session, viewer);
  return {
    session_id: session.id,
    template: session.game.id,
    status: session.status,
    tick,
    state,
    your_role: viewer,
    legal_actions: legalActions,
    ...endOf(session),
  };
}

/** The end of a session by forfeit, abort or expiry, which the state of the game does not contain. */
const endOf = ({ termination, reason }: Session) =>
  termination === null || termination === "normal" ? {} : { termination, reason };

/** The body of the answer to an action: the session after it, in the view of its role. */
export function restActed(session: Session, viewer: Viewer) {
  const { tick, state } = viewFor(session, viewer);
  return { tick, state, status: session.status };
}

/** The body of `GET /sessions/{id}/log`. */
export const restLog = ({ session, rows }: StoredSession, viewer: Viewer) => ({
  actions: actionsFor(session, rows, viewer).map(({ tick, role, action, agent, at }) => ({
    ...{ tick, role, action },
    agent_id: agent,
    created_at: at,
  })),
});
