import { EventEmitter } from "node:events";
import { findGame } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import type { RecordedEvent } from "#shared/lib/hash.ts";
import { err, messageOf, ok, type Result } from "#shared/lib/result.ts";
import { eventOf } from "#shared/session/entry.ts";
import { replay } from "#shared/session/replay.ts";
import { type Command, decide, type Session } from "#shared/session/session.ts";
import type { Statement } from "#shared/store/writer.ts";
import { GameNotLoaded, type Rejection, rejected } from "./rejections.ts";
import type { Access, SessionStore, Snapshot } from "./session-store.ts";

/** A committed session with its log and its access rules. */
export interface StoredSession {
  readonly session: Session;
  readonly rows: readonly RecordedEvent[];
  readonly access: Access;
}

/** The session after a command, or the rejection of the command. */
export type Committed = Result<Session, Rejection>;

/** Returns further statements for the transaction of an entry, given the session after it. */
export type Alongside = (next: Session) => readonly Statement[];

/** A session in memory. `session` is the last state on disk, which readers see. `pending` is the state after all decided commands. */
export interface Live extends StoredSession {
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
export type OnListenerError = (thrown: unknown, sessionId: string) => void;

/** The sessions in memory and their listeners. Only the functions of this file change them. */
export interface LiveSessions {
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
export const SNAPSHOT_EVERY_MS = 1_000;

export const createLiveSessions = (
  store: SessionStore,
  clock: Clock,
  onCommit: (session: Session) => void,
  onListenerError: OnListenerError,
): LiveSessions => ({
  ...{ store, clock, onCommit, onListenerError },
  live: new Map(),
  watchers: new Map(),
  commits: new EventEmitter().setMaxListeners(0),
});

/** Adds a session to the sessions in memory. */
export function addLive(
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
export function find(sessions: LiveSessions, sessionId: string): Live | null {
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
export async function run(
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
export function notifyAll(sessions: LiveSessions, found: Live, session: Session): void {
  for (const listener of [...(sessions.watchers.get(session.id) ?? [])]) {
    notify(sessions, session.id, () => listener(found));
  }
  notifyCommit(sessions, session);
}

export const notifyCommit = (sessions: LiveSessions, session: Session): void =>
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
export function watch(sessions: LiveSessions, sessionId: string, listener: Listener): () => void {
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
export function forget(sessions: LiveSessions, sessionId: string): void {
  const found = sessions.live.get(sessionId);
  if (found && !isPinned(sessions, found)) sessions.live.delete(sessionId);
}

/** Removes the sessions from memory that have not been used for `idleMs`, unless they are watched, being written or played by a driver. */
export function forgetIdle(sessions: LiveSessions, idleMs: number): void {
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

export const snapshotOf = (session: Session): Snapshot => ({
  state: JSON.stringify(session.state),
  status: session.status,
  tick: session.tick,
});
