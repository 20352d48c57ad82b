import { EventEmitter } from "node:events";
import type { Clock } from "#shared/lib/clock.ts";
import type { RecordedEvent } from "#shared/lib/hash-chain.ts";
import { err, messageOf, ok, type Result } from "#shared/lib/result.ts";
import { eventOf } from "#shared/session/entry.ts";
import { replay } from "#shared/session/replay.ts";
import { type Command, decide, type Session } from "#shared/session/session.ts";
import type { Statement } from "#shared/store/group-commit.ts";
import { type Rejection, rejected } from "./rejections.ts";
import type { Access, SessionStore, Snapshot } from "./session-store.ts";

/** A session with its log, as committed, and who has access to it. */
export interface Kept {
  readonly session: Session;
  readonly rows: readonly RecordedEvent[];
  readonly access: Access;
}

/** The session after a command, or why the command was rejected. */
export type Committed = Result<Session, Rejection>;

/** Writes what belongs to an entry, in its transaction, given the session after it. */
export type Alongside = (next: Session) => readonly Statement[];

/** `pending` is what the next decision builds on; `session` is what readers see: the last state that is on disk. */
export interface Live extends Kept {
  session: Session;
  readonly rows: RecordedEvent[];
  pending: { readonly session: Session; readonly version: number };
  /** When the database's copy of the state was last written, on the monotonic clock; -Infinity when this host has not written it. */
  snapshotAt: number;
  /** When it was last read or written, on the monotonic clock. */
  touchedAt: number;
}
type Listener = (kept: Kept) => void;

/** Receives what a listener throws after a commit. */
export type OnListenerError = (thrown: unknown, sessionId: string) => void;

/** The sessions in memory, and those that listen to them. Only the functions of this file change it. */
export interface LiveSessions {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly onCommit: (session: Session) => void;
  readonly onListenerError: OnListenerError;
  readonly live: Map<string, Live>;
  /** By session. Kept apart from `live`, because a session that is read again from its log keeps its listeners. */
  readonly watchers: Map<string, Set<Listener>>;
  /** By session; each wait for one listens for errors too, of which there are none. */
  readonly commits: EventEmitter;
}

/** While a session is played its copy in the database is at most this much older than its last action. */
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

/** Keeps a session in memory. */
export function hold(
  { live, clock }: LiveSessions,
  session: Session,
  rows: RecordedEvent[],
  access: Access,
  snapshotAt: number,
): Live {
  const pending = { session, version: rows.length };
  const held = { session, rows, access, pending, snapshotAt, touchedAt: clock.monotonic() };
  live.set(session.id, held);
  return held;
}

/** The committed session, from memory or replayed from its log; null when there is none. */
export function find(sessions: LiveSessions, sessionId: string): Live | null {
  const { live, store, clock } = sessions;
  const known = live.get(sessionId);
  if (known) {
    known.touchedAt = clock.monotonic();
    return known;
  }
  const about = store.about(sessionId);
  if (!about) return null;
  const rows = [...store.log.read(sessionId)];
  const replayed = replay(rows, about.seed);
  if (!replayed.ok)
    throw new Error(`log of session ${sessionId}, entry ${replayed.error.seq}: ${replayed.error.message}`);
  const { actedBy, spectators } = about;
  return hold(sessions, replayed.value, rows, { actedBy, spectators }, Number.NEGATIVE_INFINITY);
}

/** Runs a command in a session that `find` has returned in this turn of the event loop: nothing may be awaited between the two. */
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
    // Decisions on top of the lost entry are void too, so the next access reads the session again from its log.
    if (live.get(sessionId) === found) live.delete(sessionId);
    throw new Error(`session ${sessionId}: the log did not take an entry: ${messageOf(thrown)}`);
  }
  found.session = next;
  commits.emit(sessionId);
  notifyAll(sessions, found, next);
  return ok(next);
}

/** Calls those that watch the session, and `onCommit`. */
export function notifyAll(sessions: LiveSessions, found: Live, session: Session): void {
  for (const listener of [...(sessions.watchers.get(session.id) ?? [])]) {
    notify(sessions, session.id, () => listener(found));
  }
  notifyCommit(sessions, session);
}

export const notifyCommit = (sessions: LiveSessions, session: Session): void =>
  notify(sessions, session.id, () => sessions.onCommit(session));

/** The entry is on disk by now, so what a listener throws fails neither the command nor the other listeners. */
function notify({ onListenerError }: LiveSessions, sessionId: string, listener: () => void): void {
  try {
    listener();
  } catch (thrown) {
    onListenerError(thrown, sessionId);
  }
}

/** Calls `listener` after each commit to a session, and keeps it in memory until the returned function is called. */
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

/** Whether a session is watched or being written. */
const isHeld = ({ watchers }: LiveSessions, { pending, session }: Live): boolean =>
  watchers.has(session.id) || pending.session !== session;

/** Removes a session from memory, unless it is watched or being written. */
export function forget(sessions: LiveSessions, sessionId: string): void {
  const found = sessions.live.get(sessionId);
  if (found && !isHeld(sessions, found)) sessions.live.delete(sessionId);
}

/** The same of all that have not been used for so long, except those of a driver. */
export function forgetIdle(sessions: LiveSessions, idleMs: number): void {
  const { live, clock } = sessions;
  const latest = clock.monotonic() - idleMs;
  for (const [id, one] of live) {
    const isDriven = one.access.actedBy === "driver" && one.session.status === "active";
    if (one.touchedAt <= latest && !isDriven && !isHeld(sessions, one)) live.delete(id);
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
