import type { Role, Viewer } from "#shared/games/game.ts";
import type { Session } from "#shared/session/session.ts";

/**
 * The view of one audience of a session, from the game's `viewState` and `toText`. REST, MCP and the pages compose their JSON
 * from it, each with its own field names. `state`, `legalActions` and `board` are computed when they are read.
 */
export interface SessionView {
  readonly viewer: Viewer;
  readonly status: "waiting_for_players" | "active" | "completed";
  /** The session's tick. For spectators the tick at which the open turn began: they do not see that a role has chosen. */
  readonly tick: number;
  /** The roles that are to act. For spectators of a simultaneous turn all roles: they do not see which of them have chosen. */
  readonly toAct: readonly Role[];
  readonly state: unknown;
  /** Empty for spectators and for a role that is not to act. */
  readonly legalActions: readonly unknown[];
  /** The game as text. */
  readonly board: string;
}

/** A session as the holder of a seat may know it: it sees that another role has chosen, and not its choice. `isWaiting`: players have not joined yet. */
export const seatView = (session: Session, role: Role, isWaiting = false): SessionView => ({
  viewer: role,
  status: isWaiting ? "waiting_for_players" : session.status,
  tick: session.tick,
  toAct: isWaiting ? [] : driverView(session).toAct,
  get state() {
    return stateFor(session, role, isWaiting);
  },
  get legalActions() {
    return isWaiting || session.status === "completed" ? [] : session.game.legalActions(session.state, role);
  },
  get board() {
    return session.game.toText(session.state, role);
  },
});

/** A session as a spectator sees it. `isWaiting`: not all players have joined yet. */
export function spectatorView(session: Session, isWaiting = false): SessionView {
  const { game } = session;
  const toAct = isWaiting ? [] : driverView(session).toAct;
  return {
    viewer: "spectator",
    status: isWaiting ? "waiting_for_players" : session.status,
    tick: session.turnTick,
    toAct: game.info.simultaneous && toAct.length > 0 ? game.roles : toAct,
    get state() {
      return stateFor(session, "spectator", isWaiting);
    },
    legalActions: [],
    get board() {
      return game.toText(session.state, "spectator");
    },
  };
}

/** The view of a caller who holds a seat or is a spectator. */
export const viewFor = (session: Session, viewer: Viewer, isWaiting = false): SessionView =>
  viewer === "spectator" ? spectatorView(session, isWaiting) : seatView(session, viewer, isWaiting);

/** The view of the driver of a session: the roles that are to act, also in an open turn. It contains no part of the game's state. */
export interface DriverView {
  readonly tick: number;
  readonly status: Session["status"];
  readonly toAct: readonly Role[];
}

/** A session as its driver may know it. It must not be sent to spectators: `toAct` and `tick` show which roles have chosen in an open turn. */
export const driverView = ({ game, state, status, tick }: Session): DriverView => ({
  tick,
  status,
  toAct: status === "completed" ? [] : game.toAct(state),
});

/** The game's view; while players are missing with the phase that some games have for that. */
function stateFor({ game, state }: Session, viewer: Viewer, isWaiting: boolean): unknown {
  const view = game.viewState(state, viewer);
  return isWaiting && game.waitingView ? game.waitingView(view) : view;
}
