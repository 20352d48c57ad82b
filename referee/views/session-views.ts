import type { Role, Viewer } from "#shared/games/game.ts";
import { shownView } from "#shared/games/view-history.ts";
import type { Session } from "#shared/session/session.ts";
import { viewOf } from "#shared/session/view.ts";

/**
 * The view of one audience of a session, from the game's `viewState` and `toText`. REST, MCP and the pages compose their JSON
 * from it, each with its own field names. The fields are computed on access.
 */
export interface SessionView {
  readonly viewer: Viewer;
  readonly status: "waiting_for_players" | "active" | "completed";
  /** The session's tick. For spectators the tick at which the open turn began: they do not see that a role has chosen. */
  readonly tick: number;
  /** The roles that are to act. For spectators of a simultaneous turn all roles: they do not see which of them have chosen. */
  readonly toAct: readonly Role[];
  readonly state: unknown;
  /** `state` as pages and tools show it: without a history that only programs need. */
  readonly shownState: unknown;
  /** Empty for spectators and for a role that is not to act. */
  readonly legalActions: readonly unknown[];
  /** The game as text. */
  readonly board: string;
}

/** A class, because V8 needs microseconds to create an object literal with accessors. */
abstract class View implements SessionView {
  abstract readonly viewer: Viewer;
  abstract readonly tick: number;
  abstract readonly toAct: readonly Role[];
  abstract readonly legalActions: readonly unknown[];
  protected readonly session: Session;
  protected readonly isWaiting: boolean;

  constructor(session: Session, isWaiting: boolean) {
    this.session = session;
    this.isWaiting = isWaiting;
  }
  get status(): SessionView["status"] {
    return this.isWaiting ? "waiting_for_players" : this.session.status;
  }
  get state(): unknown {
    const view = viewOf(this.session, this.viewer);
    const { game } = this.session;
    // Some games have a phase for the time in which players are missing.
    return this.isWaiting && game.waitingView ? game.waitingView(view) : view;
  }
  get shownState(): unknown {
    return shownView(this.session.game.info, this.state);
  }
  get board(): string {
    return this.session.game.toText(viewOf(this.session, this.viewer), this.viewer);
  }
}

class SeatView extends View {
  readonly viewer: Role;

  constructor(session: Session, role: Role, isWaiting: boolean) {
    super(session, isWaiting);
    this.viewer = role;
  }
  get tick(): number {
    return this.session.tick;
  }
  get toAct(): readonly Role[] {
    return this.isWaiting ? [] : driverView(this.session).toAct;
  }
  get legalActions(): readonly unknown[] {
    const { game, state, status } = this.session;
    return this.isWaiting || status === "completed" ? [] : game.legalActions(state, this.viewer);
  }
}

class SpectatorView extends View {
  readonly viewer = "spectator";
  readonly legalActions: readonly unknown[] = [];

  get tick(): number {
    return this.session.turnTick;
  }
  get toAct(): readonly Role[] {
    const { game } = this.session;
    const toAct = this.isWaiting ? [] : driverView(this.session).toAct;
    return game.info.simultaneous && toAct.length > 0 ? game.roles : toAct;
  }
}

/** The view of the holder of a seat: it shows that another role has chosen, and not its choice. `isWaiting`: not all players have joined. */
export const seatView = (session: Session, role: Role, isWaiting = false): SessionView =>
  new SeatView(session, role, isWaiting);

/** The view of a spectator. `isWaiting`: not all players have joined. */
export const spectatorView = (session: Session, isWaiting = false): SessionView =>
  new SpectatorView(session, isWaiting);

/** The view of a seat or a spectator. */
export const viewFor = (session: Session, viewer: Viewer, isWaiting = false): SessionView =>
  viewer === "spectator" ? spectatorView(session, isWaiting) : seatView(session, viewer, isWaiting);

/** The view of the driver of a session: the roles that are to act, even in an open turn. It contains no part of the game state. */
interface DriverView {
  readonly tick: number;
  readonly status: Session["status"];
  readonly toAct: readonly Role[];
}

/** The view of the driver. It must not be sent to spectators: `toAct` and `tick` show which roles have chosen in an open turn. */
export const driverView = ({ game, state, status, tick }: Session): DriverView => ({
  tick,
  status,
  toAct: status === "completed" ? [] : game.toAct(state),
});
