import type { Viewer } from "#shared/games/game.ts";
import { parseEntry } from "#shared/session/entry.ts";
import type { Session } from "#shared/session/session.ts";
import type { Kept } from "../host.ts";

/** The tick as a viewer may know it: that somebody has made a sealed choice is no spectator's business. */
export const tickFor = (session: Session, viewer: Viewer): number =>
  viewer === "spectator" ? session.turnTick : session.tick;

/** `GET /sessions/{id}/state`, through `viewState` alone. */
export const stateFor = (session: Session, viewer: Viewer) => ({
  session_id: session.id,
  template: session.game.id,
  status: session.status,
  tick: tickFor(session, viewer),
  state: session.game.viewState(session.state, viewer),
  your_role: viewer,
  legal_actions: viewer === "spectator" || isOver(session) ? [] : session.game.legalActions(session.state, viewer),
  ...endOf(session),
});

const isOver = ({ status }: Session): boolean => status === "completed";

/** How a session ended that its game did not end; nothing else tells of it. */
const endOf = ({ termination, reason }: Session) =>
  termination === null || termination === "normal" ? {} : { termination, reason };

/** The answer to an action: the session after it, as its role sees it. */
export const actedFor = (session: Session, viewer: Viewer) => ({
  tick: tickFor(session, viewer),
  state: session.game.viewState(session.state, viewer),
  status: session.status,
});

/**
 * `GET /sessions/{id}/log`. While a turn is open, each viewer sees only its own sealed entry of it; if the session ends before the turn
 * closes, that stays so.
 */
export function logFor({ session, rows }: Kept, viewer: Viewer) {
  const openFrom = session.game.info.simultaneous ? session.turnTick : Number.POSITIVE_INFINITY;
  return {
    actions: rows.flatMap((row) => {
      const entry = parseEntry(row.body);
      if (entry.type !== "acted" || (entry.tick >= openFrom && entry.role !== viewer)) return [];
      const { tick, role, action, agent, at } = entry;
      return [{ tick, role, action, agent_id: agent, created_at: at }];
    }),
  };
}
