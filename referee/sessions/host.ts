import { EventEmitter, once } from "node:events";
import type { Game, Role } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { type Clock, throwLater } from "#shared/lib/clock.ts";
import { hmacBase64Url, type RecordedEvent } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { err, messageOf, ok, type Result } from "#shared/lib/result.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import { eventOf, type Fault, parseEntry } from "#shared/session/entry.ts";
import { replay } from "#shared/session/replay.ts";
import { type Command, create, type Decision, decide, type Session } from "#shared/session/session.ts";
import type { Statement } from "#shared/store/writer.ts";
import { GameNotLoaded, type Rejection, rejected } from "./rejections.ts";
import type { Access, NewSeat, SessionStore, Snapshot } from "./session-store.ts";

interface NewSessionOptions extends Partial<Access> {
  readonly game: Game;
  /** The options, as parsed by the game. */
  readonly options: unknown;
  readonly seed: string;
  /** Absent for a session without clocks. */
  readonly clock?: TimeControl | undefined;
  readonly seats: readonly NewSeat[];
  /** Returns further statements for the transaction that creates the session. */
  readonly alongside?: (sessionId: string) => readonly Statement[];
}

/** A session after one entry of its log. */
interface Step {
  readonly seq: number;
  readonly session: Session;
}

/**
 * The session host: the only writer of session logs. Match driver, REST, MCP and pages all submit their commands to it.
 * A result is returned after its commit. A rejected command has changed nothing.
 */
export interface SessionHost {
  create(options: NewSessionOptions): Promise<Session>;
  /** The committed session, from memory or replayed from its log; null if there is none. Throws GameNotLoaded if this process does not have its game. */
  read(sessionId: string): StoredSession | null;
  submit(sessionId: string, submission: Submission): Promise<Committed>;
  /** Ends a session with the faults of one turn. */
  forfeit(sessionId: string, faults: readonly Fault[], alongside?: Alongside): Promise<Committed>;
  /** Ends a session without a fault of a player. */
  abort(sessionId: string, reason: string): Promise<Committed>;
  /** A secret that is derived from the seed of a session with `secretFrom`, so it is the same after a restart. null if there is no such session. */
  secret(sessionId: string, purpose: string): string | null;
  /** The session after each entry that follows entry `seq`, oldest first, replayed from the log. */
  since(sessionId: string, seq: number): readonly Step[];
  /** Calls `listener` after each commit to a session, and keeps the session in memory, until the returned function is called. */
  watch(sessionId: string, listener: (stored: StoredSession) => void): () => void;
  /** Resolves after the next commit to a session. Does not keep the session in memory. Rejects if `signal` is aborted. */
  nextCommit(sessionId: string, signal: AbortSignal): Promise<unknown>;
  /** Expires the sessions whose seats have been idle for `idleMs`. `onFailure` is called once for each session that cannot be expired. */
  expireIdle(idleMs: number, onFailure?: (sessionId: string, thrown: unknown) => void): Promise<void>;
  /** Evicts sessions from memory that have not been used for `idleMs`. They are replayed on demand. */
  forgetIdle(idleMs: number): void;
  /** Evicts one session immediately, when its driver has ended. */
  forget(sessionId: string): void;
  /** The sessions that wait for players. */
  readonly lobby: Lobby;
  /** The number of active sessions, outside of leagues, of each game that this process does not have. */
  notLoaded(): ReadonlyMap<string, number>;
  /** The number of sessions in memory. */
  loaded(): number;
}

const DRIVEN: Access = { actedBy: "driver", spectators: "none" };

/**
 * `onCommit` is called after each entry of a session, and when a player has joined. `onListenerError` receives errors of `onCommit` and
 * of the listeners of `watch`: the entry is already on disk, so neither the command nor the other listeners may fail. `openRoles` returns
 * the roles of a session whose seats are open.
 */
export function createHost(
  store: SessionStore,
  clock: Clock,
  ids: Ids,
  onCommit: (session: Session) => void = () => {},
  onListenerError: OnListenerError = (thrown) => throwLater(clock, thrown),
  openRoles: (sessionId: string) => readonly Role[] = () => [],
): SessionHost {
  const sessions = createLiveSessions(store, clock, onCommit, onListenerError);
  const expire = expiry(sessions);
  const read = (sessionId: string): Live | null => find(sessions, sessionId);
  const lobby = createLobby(
    openRoles,
    (sessionId) => {
      const found = read(sessionId);
      if (found) notifyAll(sessions, found, found.session);
    },
    clock,
  );
  return {
    lobby,
    create: (options) => addSession(sessions, ids.uuid(), options),
    read,
    submit: async (sessionId, submission) => submit(sessions, lobby, read(sessionId), submission),
    forfeit: async (sessionId, faults, alongside) =>
      run(sessions, read(sessionId), { type: "forfeit", faults }, alongside),
    abort: async (sessionId, reason) => run(sessions, read(sessionId), { type: "abort", reason }),
    secret(sessionId, purpose) {
      const seed = store.about(sessionId)?.seed;
      return seed === undefined ? null : secretFrom(seed, purpose);
    },
    since: (sessionId, seq) => stepsSince(store, read(sessionId)?.rows ?? [], sessionId, seq),
    watch: (sessionId, listener) => watch(sessions, sessionId, listener),
    nextCommit: (sessionId, signal) => once(sessions.commits, sessionId, { signal }),
    expireIdle: expire,
    forgetIdle: (idleMs) => forgetIdle(sessions, idleMs),
    forget: (sessionId) => forget(sessions, sessionId),
    notLoaded: () => new Map([...store.countByGame()].filter(([game]) => !findGame(game))),
    loaded: () => sessions.live.size,
  };
}

async function addSession(sessions: LiveSessions, id: string, options: NewSessionOptions): Promise<Session> {
  const { game, options: gameOptions, seed, clock: timeControl = null, seats, alongside, ...accessOptions } = options;
  const { store, clock, live } = sessions;
  const access = { ...DRIVEN, ...accessOptions };
  const participants = Object.fromEntries(seats.map((seat) => [seat.role, seat.agentId]));
  const { entry, next }: Decision = create({
    id,
    game,
    options: gameOptions,
    participants,
    seed,
    clock: timeControl,
    at: clock.iso(),
  });
  const append = { stream: id, expectedVersion: 0, events: [eventOf(entry)] };
  const setup = { sessionId: id, template: game.id, seed, seats, ...access };
  const adding = [...store.adding(setup, snapshotOf(next), entry.at), ...(alongside?.(id) ?? [])];
  const rows = await store.log.append([append], adding);
  // Another caller may already have loaded the session and acted in it.
  if (!live.has(id)) addLive(sessions, next, [...rows], access, clock.monotonic());
  notifyCommit(sessions, next);
  return next;
}

/** Submits an action. Nothing may be awaited before `run`. */
async function submit(
  sessions: LiveSessions,
  lobby: Lobby,
  found: Live | null,
  submission: Submission,
): Promise<Committed> {
  if (!found) return rejected("UNKNOWN_SESSION");
  const waiting = found.access.actedBy === "seats" ? lobby.waiting(found.session) : null;
  if (waiting) return rejected("WAITING_FOR_PLAYERS", waiting.message);
  const parsed = parsedSubmission(found.session.game, submission);
  return explained(await run(sessions, found, parsed.command, submission.alongside), parsed);
}

/** The session after each entry that follows entry `seq`, replayed from its log. */
function stepsSince(
  store: SessionStore,
  rows: readonly RecordedEvent[],
  sessionId: string,
  seq: number,
): readonly Step[] {
  const seed = rows.length > seq + 1 ? store.about(sessionId)?.seed : undefined;
  const steps: Step[] = [];
  if (seed !== undefined) replay(rows, seed, (session, at) => at > seq && steps.push({ seq: at, session }));
  return steps;
}

/** Returns the committed session. Throws if there is none. */
export function sessionOf({ host }: { readonly host: Pick<SessionHost, "read"> }, sessionId: string): Session {
  const stored = host.read(sessionId);
  if (!stored) throw new Error(`session ${sessionId} is not in the log`);
  return stored.session;
}

/** Derives a secret from the seed of a session. */
export const secretFrom = (seed: string, purpose: string): string => hmacBase64Url(seed, purpose);

/** A committed session with its log and its access rules. */
export interface StoredSession {
  readonly session: Session;
  readonly rows: readonly RecordedEvent[];
  readonly access: Access;
}

/** The session after a command, or the rejection of the command. */
export type Committed = Result<Session, Rejection>;

/** Returns further statements for the transaction of an entry, given the session after it. */
type Alongside = (next: Session) => readonly Statement[];

/** A session in memory. `session` is the last state on disk, which readers see. `pending` is the state after all decided commands. */
interface Live extends StoredSession {
  session: Session;
  readonly rows: RecordedEvent[];
  pending: { readonly session: Session; readonly version: number };
  /** The time of the last snapshot in the database, on the monotonic clock; -Infinity if this host has not written one. */
  snapshotAt: number;
  /** The time of the last use, on the monotonic clock. */
  usedAt: number;
}
type Listener = (stored: StoredSession) => void;

/** Receives an error that a listener throws after a commit. */
type OnListenerError = (thrown: unknown, sessionId: string) => void;

/** The sessions in memory and their listeners. Only the functions of this file change them. */
interface LiveSessions {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly onCommit: (session: Session) => void;
  readonly onListenerError: OnListenerError;
  readonly live: Map<string, Live>;
  /** The listeners by session. They are separate from `live`, so that they remain when a session is replayed. */
  readonly watchers: Map<string, Set<Listener>>;
  /** Emits the id of a session after each commit. `once` of node:events also listens for `error`, which is never emitted. */
  readonly commits: EventEmitter;
}

/** The maximum age of the snapshot of an active session, compared with its last action. */
const SNAPSHOT_EVERY_MS = 1_000;

const createLiveSessions = (
  store: SessionStore,
  clock: Clock,
  onCommit: (session: Session) => void,
  onListenerError: OnListenerError,
): LiveSessions => ({
  store,
  clock,
  onCommit,
  onListenerError,
  live: new Map(),
  watchers: new Map(),
  commits: new EventEmitter().setMaxListeners(0),
});

/** Adds a session to the sessions in memory. */
function addLive(
  { live, clock }: LiveSessions,
  session: Session,
  rows: RecordedEvent[],
  access: Access,
  snapshotAt: number,
): Live {
  const pending = { session, version: rows.length };
  const added = { session, rows, access, pending, snapshotAt, usedAt: clock.monotonic() };
  live.set(session.id, added);
  return added;
}

/**
 * Returns the committed session, from memory or replayed from its log; null if there is none. Throws GameNotLoaded if this process does not have
 * its game, and another error if its log cannot be replayed.
 */
function find(sessions: LiveSessions, sessionId: string): Live | null {
  const { live, store, clock } = sessions;
  const loaded = live.get(sessionId);
  if (loaded) {
    loaded.usedAt = clock.monotonic();
    return loaded;
  }
  const about = store.about(sessionId);
  if (!about) return null;
  if (!findGame(about.game)) throw new GameNotLoaded(about.game);
  const rows = [...store.log.read(sessionId)];
  const replayed = replay(rows, about.seed);
  if (!replayed.ok)
    throw new Error(`log of session ${sessionId}, entry ${replayed.error.seq}: ${replayed.error.message}`);
  const { actedBy, spectators } = about;
  return addLive(sessions, replayed.value, rows, { actedBy, spectators }, Number.NEGATIVE_INFINITY);
}

/**
 * Decides a command and appends its entry. Resolves after the commit with the next state, or with the rejection. `found` must come from
 * `find` in the same turn of the event loop, so nothing may be awaited in between. Rejects if the entry cannot be written.
 */
async function run(
  sessions: LiveSessions,
  found: Live | null,
  command: Command,
  alongside?: Alongside,
): Promise<Committed> {
  if (!found) return rejected("UNKNOWN_SESSION");
  const { store, clock, live, commits } = sessions;
  const sessionId = found.session.id;
  const decision = decide(found.pending.session, command, clock.iso());
  if (!decision.ok) return err({ ...decision.error, reason: found.pending.session.reason });
  const { entry, next } = decision.value;
  const append = { stream: sessionId, expectedVersion: found.pending.version, events: [eventOf(entry)] };
  found.pending = { session: next, version: append.expectedVersion + 1 };
  const snapshot = dueSnapshot(found, next, clock.monotonic());
  const updating = snapshot ? [store.updating(sessionId, snapshot, entry.at)] : [];
  try {
    found.rows.push(...(await store.log.append([append], [...updating, ...(alongside?.(next) ?? [])])));
  } catch (thrown) {
    // Decisions that depend on this entry are invalid too, so the next access replays the session from its log.
    if (live.get(sessionId) === found) live.delete(sessionId);
    throw new Error(`session ${sessionId}: an entry was not written: ${messageOf(thrown)}`);
  }
  found.session = next;
  commits.emit(sessionId);
  notifyAll(sessions, found, next);
  return ok(next);
}

/** Calls the watchers of a session, and `onCommit`. */
function notifyAll(sessions: LiveSessions, found: Live, session: Session): void {
  for (const listener of [...(sessions.watchers.get(session.id) ?? [])]) {
    notify(sessions, session.id, () => listener(found));
  }
  notifyCommit(sessions, session);
}

const notifyCommit = (sessions: LiveSessions, session: Session): void =>
  notify(sessions, session.id, () => sessions.onCommit(session));

/** Calls a listener. Its entry is already on disk, so an error fails neither the command nor the other listeners. */
function notify({ onListenerError }: LiveSessions, sessionId: string, listener: () => void): void {
  try {
    listener();
  } catch (thrown) {
    onListenerError(thrown, sessionId);
  }
}

/** Calls `listener` after each commit to a session, and keeps the session in memory, until the returned function is called. */
function watch(sessions: LiveSessions, sessionId: string, listener: Listener): () => void {
  if (!find(sessions, sessionId)) return () => {};
  const { watchers } = sessions;
  const listeners = watchers.get(sessionId) ?? new Set();
  watchers.set(sessionId, listeners.add(listener));
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && watchers.get(sessionId) === listeners) watchers.delete(sessionId);
  };
}

/** Whether a session must stay in memory, because it is watched or being written. */
const isPinned = ({ watchers }: LiveSessions, { pending, session }: Live): boolean =>
  watchers.has(session.id) || pending.session !== session;

/** Removes a session from memory, unless it is watched or being written. */
function forget(sessions: LiveSessions, sessionId: string): void {
  const found = sessions.live.get(sessionId);
  if (found && !isPinned(sessions, found)) sessions.live.delete(sessionId);
}

/** Removes the sessions from memory that have not been used for `idleMs`, unless they are watched, being written or played by a driver. */
function forgetIdle(sessions: LiveSessions, idleMs: number): void {
  const { live, clock } = sessions;
  const latest = clock.monotonic() - idleMs;
  for (const [id, loaded] of live) {
    const isDriven = loaded.access.actedBy === "driver" && loaded.session.status === "active";
    if (loaded.usedAt <= latest && !isDriven && !isPinned(sessions, loaded)) live.delete(id);
  }
}

function dueSnapshot(live: Live, next: Session, now: number): Snapshot | null {
  if (next.status === "active" && now - live.snapshotAt < SNAPSHOT_EVERY_MS) return null;
  live.snapshotAt = now;
  return snapshotOf(next);
}

const snapshotOf = (session: Session): Snapshot => ({
  state: JSON.stringify(session.state),
  status: session.status,
  tick: session.tick,
});

/** An action of a role, as it was received. */
export interface Submission {
  readonly role: Role;
  /** Any JSON value. A value that is not an action of the game is rejected as illegal. */
  readonly action: unknown;
  /** The tick that the session must have; null for no check. */
  readonly expectedTick: number | null;
  /** Whether a driver submits the action. It may submit actions that only drivers may make, such as skipping a role. */
  readonly byDriver?: boolean;
  /** The time that the role is charged, in whole milliseconds. Required in a session with clocks, ignored in others. */
  readonly spentMs?: number;
  /** Returns further statements for the transaction of the action, given the session after it. */
  readonly alongside?: Alongside;
}

/** The command of a submission. `fault` is the reason why its value is not an action of the game; null if it is one. */
interface Parsed {
  readonly command: Command;
  readonly fault: string | null;
}

/** Parses a submission. Actions that only drivers may make, and values that are not actions, become an action that every game rejects. */
export function parsedSubmission(game: Game, submission: Submission): Parsed {
  const { role, action, expectedTick, byDriver = false, spentMs } = submission;
  const parsed = game.action.safeParse(action);
  const isForbidden = !byDriver && parsed.success && game.isDriverAction?.(parsed.data) === true;
  const act = { type: "act", role, action: isForbidden ? undefined : parsed.data, expectedTick } as const;
  return {
    command: spentMs === undefined ? act : { ...act, spentMs },
    fault: parsed.success ? null : (parsed.error.issues[0]?.message ?? "not an action of this game"),
  };
}

/** The result of a command, with the fault of its value as the reason of an illegal action. */
export const explained = (decided: Committed, { fault }: Parsed): Committed =>
  !decided.ok && decided.error.code === "ILLEGAL_ACTION" && fault !== null
    ? err({ ...decided.error, message: fault })
    : decided;

type Expire = (idleMs: number, onFailure?: (sessionId: string, thrown: unknown) => void) => Promise<void>;

/** Returns a function that expires sessions whose seats have been idle for `idleMs`. `onFailure` is called once for each session that cannot be expired. */
function expiry(sessions: LiveSessions): Expire {
  const { store, clock, live } = sessions;
  /** Sessions that could not be expired, for example because their log cannot be replayed. */
  const failing = new Set<string>();
  return async (idleMs, onFailure) => {
    // The times in the log are compared, because a session may have been idle since before this process started.
    const latest = clock.now() - idleMs;
    for (const sessionId of store.quietSince(latest + SNAPSHOT_EVERY_MS)) {
      try {
        const loaded = live.get(sessionId);
        if (loaded && loaded.pending.session !== loaded.session) continue; // an entry is being written
        // `find` is not used here, because it would load the session and count as a use.
        const head = (loaded?.rows ?? store.log.read(sessionId)).at(-1);
        if (head && Date.parse(parseEntry(head.body).at) <= latest) {
          await run(sessions, find(sessions, sessionId), { type: "expire" });
        }
      } catch (thrown) {
        // The session can be continued when this process is started with its game.
        if (thrown instanceof GameNotLoaded) continue;
        if (!failing.has(sessionId)) onFailure?.(sessionId, thrown);
        failing.add(sessionId);
      }
    }
  };
}

/** The reason why a session accepts no moves yet. */
interface Waiting {
  /** The roles whose players have not joined yet. */
  readonly roles: readonly Role[];
  readonly message: string;
}

/** The sessions that wait for players, because seats are open or invitations are not accepted yet. */
export interface Lobby {
  /** The reason why a session waits; null once all players have joined. */
  waiting(session: Session): Waiting | null;
  /** Marks a session as inviting its players until the returned function is called. */
  inviting(session: Session): () => void;
  /** The time at which the players of a session had accepted, or at which this process was started if they had accepted before. */
  begunAt(session: Session): number;
  isInviting(sessionId: string): boolean;
  /** Notifies the watchers of a session that a seat was taken or named. */
  seatChanged(sessionId: string): void;
}

/** Creates a lobby. `openRoles` returns the open seats of a session. `onChange` is called when a session may have begun. */
export function createLobby(
  openRoles: (sessionId: string) => readonly Role[],
  onChange: (sessionId: string) => void,
  clock: Pick<Clock, "now">,
): Lobby {
  const invited = new Set<string>();
  const startedAt = clock.now();
  /** The times of sessions without moves. */
  const begun = new WeakMap<Session, number>();
  return {
    waiting({ id, status, tick, game }) {
      // No move is accepted before all players have joined, so a session with moves has begun.
      if (status === "completed" || tick > 0) return null;
      if (invited.has(id)) {
        return { roles: game.roles, message: "Waiting for players: not all of them have accepted the invitation" };
      }
      const roles = openRoles(id);
      if (roles.length === 0) return null;
      const missing = `${roles.join(" and ")} ${roles.length === 1 ? "has" : "have"} not joined yet`;
      return { roles, message: `Waiting for players: ${missing}. Moves are accepted once every seat is taken` };
    },
    inviting(session) {
      invited.add(session.id);
      return () => {
        begun.set(session, clock.now());
        if (invited.delete(session.id)) onChange(session.id);
      };
    },
    begunAt: (session) => begun.get(session) ?? startedAt,
    isInviting: (sessionId) => invited.has(sessionId),
    seatChanged: onChange,
  };
}

/** Long polls: requests that wait until a session meets a condition. */
export interface Waits {
  /**
   * Resolves with true when a commit to the session makes `isOver` true, or immediately if it is true already. Resolves with false when the
   * time limit has passed, `signal` is aborted or the server stops.
   */
  until(
    session: Session,
    isOver: (now: Session) => boolean,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<boolean>;
  /** The number of waiting requests. */
  count(): number;
  /** Ends all waits. Their requests are answered with the current session. */
  close(): void;
}

/** Creates the waits of one host. A wait has one timer and one listener, and no polling. */
export function createWaits(host: SessionHost, clock: Clock): Waits {
  const waiting = new Set<() => void>();
  let isClosed = false;
  return {
    until(session, isOver, { timeoutMs, signal }) {
      if (isOver(session)) return Promise.resolve(true);
      if (isClosed || signal?.aborted) return Promise.resolve(false);
      return new Promise((resolve) => {
        const end = (result: boolean): void => {
          cancelTimer();
          waiting.delete(stop);
          unwatch();
          signal?.removeEventListener("abort", stop);
          resolve(result);
        };
        const stop = (): void => end(false);
        const unwatch = host.watch(session.id, (now) => isOver(now.session) && end(true));
        const cancelTimer = clock.after(timeoutMs, stop);
        waiting.add(stop);
        signal?.addEventListener("abort", stop);
      });
    },
    count: () => waiting.size,
    close() {
      isClosed = true;
      for (const stop of waiting) stop();
    },
  };
}
