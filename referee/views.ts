import type { Role, Viewer } from "#shared/games/game.ts";
import { shownView } from "#shared/games/view-history.ts";
import type { RecordedEvent } from "#shared/lib/hash.ts";
import { type Entry, parseEntry } from "#shared/session/entry.ts";
import type { Session } from "#shared/session/session.ts";
import { resultOf } from "#shared/session/verdict.ts";
import { viewOf } from "#shared/session/view.ts";
import type { GameView, PlayerView, ShownClock } from "#shared/web/game-view.ts";
import { playerOf } from "./sessions/agent-tokens.ts";
import type { Lobby, StoredSession } from "./sessions/host.ts";
import type { PlaySeat } from "./sessions/seats.ts";

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

type Acted = Extract<Entry, { type: "acted" }>;

/**
 * The actions of a log that a viewer may know, oldest first. While a simultaneous turn is open, each role sees only its own sealed
 * action and spectators see none. This does not change if the session ends before the turn is closed.
 */
export function actionsFor(session: Session, rows: readonly RecordedEvent[], viewer: Viewer): readonly Acted[] {
  return rows.flatMap((row) => {
    const entry = parseEntry(row.body);
    return entry.type === "acted" && (!isSealed(session, entry) || entry.role === viewer) ? [entry] : [];
  });
}

/** The last entries of a log up to a sequence number: those of two turns, and the session's end. `lastClosedAction` and `lastClosedTurn` need no more. */
export const recentEntries = (
  { game }: Session,
  rows: readonly RecordedEvent[],
  seq: number,
): readonly RecordedEvent[] => rows.slice(Math.max(0, seq - 2 * game.roles.length - 1), seq + 1);

/** The last action of a turn that is closed; null if there is none. */
export function lastClosedAction(session: Session, rows: readonly RecordedEvent[]): Acted | null {
  // After it there are at most the actions of the open turn, one for each role, and the session's end.
  const [last = null] = actionsFor(session, rows.slice(-session.game.roles.length - 2), "spectator").slice(-1);
  return last;
}

/** The actions of the last turn that is closed; empty if there is none. In a simultaneous turn each role acts once. */
function lastClosedTurn(session: Session, rows: readonly RecordedEvent[]): readonly Acted[] {
  const { game } = session;
  const turns = game.info.simultaneous ? 2 : 1; // the open turn and the one before it
  const known = actionsFor(session, rows.slice(-turns * game.roles.length - 1), "spectator");
  if (!game.info.simultaneous) return known.slice(-1);
  const roles = new Set<string>();
  const first = known.findLastIndex(({ role }) => roles.size === roles.add(role).size);
  return known.slice(first + 1);
}

/** Whether an action belongs to a simultaneous turn that is open. In a sequential game the turn of an action closes with it. */
const isSealed = ({ game, turnTick }: Session, { tick }: Acted): boolean => game.info.simultaneous && tick >= turnTick;

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

/**
 * Returns the clocks at the start of the open turn, with the time since then; nothing in a session without clocks. A turn begins when the turn before it is
 * closed. The first turn begins when all players have accepted their invitations, and an open turn begins anew when the referee is restarted.
 */
export function clockField(
  session: Session,
  rows: readonly RecordedEvent[],
  lobby: Lobby,
  nowMs: number,
): { readonly clock?: ShownClock } {
  if (!session.turnClocks) return {};
  if (session.status === "completed") return { clock: session.turnClocks };
  const [first] = rows;
  const last = lastClosedAction(session, rows) ?? (first && parseEntry(first.body));
  const startMs = Math.max(last ? Date.parse(last.at) : 0, lobby.begunAt(session));
  return { clock: { ...session.turnClocks, elapsed_ms: Math.max(0, nowMs - startMs) } };
}

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
    tick,
    role,
    action,
    agent_id: agent,
    created_at: at,
  })),
});

/** A match as spectators see it: the events of `GET /api/matches/{league_id}/{match_id}/events`, which the league manager relays. `rows` is its log. */
export function spectatedMatch(session: Session, rows: readonly RecordedEvent[], lobby: Lobby, nowMs: number): object {
  const { status, tick, toAct, shownState, board } = spectatorView(session, lobby.waiting(session) !== null);
  return {
    game_id: session.id,
    template: session.game.id,
    status,
    tick,
    to_act: toAct,
    state: shownState,
    board,
    last_turn: lastClosedTurn(session, rows).map(({ role, action, tick }) => ({ role, action, tick })),
    result: session.status === "completed" ? resultOf(session) : null,
    ...clockField(session, rows, lobby, nowMs),
  };
}
