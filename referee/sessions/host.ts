import { EventEmitter, once } from "node:events";
import type { z } from "zod";
import type { Game, Role } from "#shared/games/game.ts";
import { type Clock, throwLater } from "#shared/lib/clock.ts";
import { hmacBase64Url } from "#shared/lib/hash.ts";
import type { RecordedEvent } from "#shared/lib/hash-chain.ts";
import { newSessionId } from "#shared/lib/ids.ts";
import { err, messageOf, ok, type Result } from "#shared/lib/result.ts";
import { eventOf, type Fault, parseEntry } from "#shared/session/entry.ts";
import { replay } from "#shared/session/replay.ts";
import { type Command, create, type Decision, decide, type Session } from "#shared/session/session.ts";
import type { Statement } from "#shared/store/group-commit.ts";
import { createLobby, type Lobby } from "./lobby.ts";
import { type Rejection, rejected } from "./rejections.ts";
import type { Access, Seat, SessionStore, Snapshot } from "./session-store.ts";

export interface NewSessionOptions extends Partial<Access> {
  readonly game: Game;
  /** Parsed by the game. */
  readonly options: unknown;
  readonly seed: string;
  readonly seats: readonly Seat[];
  /** Writes what belongs to the session, in its transaction. */
  readonly alongside?: (sessionId: string) => readonly Statement[];
}

/** A session with its log, as committed, and who has access to it. */
export interface Kept {
  readonly session: Session;
  readonly rows: readonly RecordedEvent[];
  readonly access: Access;
}

/** A session as it was after one entry of its log. */
export interface Step {
  readonly seq: number;
  readonly session: Session;
}

export interface Submission {
  readonly role: Role;
  /** Any JSON. A value that is not an action of the game is rejected as illegal. */
  readonly action: unknown;
  /** The tick that the action answers; null for no check. */
  readonly expectedTick: number | null;
  /** Whether it comes from a driver, which may go on without its role. */
  readonly byDriver?: boolean;
  /** Writes what belongs to the action, in its transaction, given the session after it. */
  readonly alongside?: (next: Session) => readonly Statement[];
}

/**
 * The session host: the only writer of session logs. Match driver, REST, MCP and pages all submit their commands to it.
 * What it returns has been committed; what it rejects has changed nothing.
 */
export interface SessionHost {
  create(options: NewSessionOptions): Promise<Session>;
  /** The committed session, from memory or replayed from its log; null when there is none. */
  read(sessionId: string): Kept | null;
  submit(sessionId: string, submission: Submission): Promise<Committed>;
  /** Ends a session for the faults of one turn together. */
  forfeit(sessionId: string, faults: readonly Fault[], alongside?: Submission["alongside"]): Promise<Committed>;
  /** Ends a session through no fault of its players. */
  abort(sessionId: string, reason: string): Promise<Committed>;
  /** A secret that this host alone can derive, with `secretFrom`, the same one after a restart; null for no session. */
  secret(sessionId: string, purpose: string): string | null;
  /** The session as it was after each of its entries behind `seq`, oldest first, replayed from the log. */
  since(sessionId: string, seq: number): readonly Step[];
  /** Calls `listener` after each commit to a session, and keeps it in memory until the returned function is called. */
  watch(sessionId: string, listener: (kept: Kept) => void): () => void;
  /** Resolves with the next commit to a session, and does not keep it in memory until then; rejects once `signal` is aborted. */
  nextCommit(sessionId: string, signal: AbortSignal): Promise<unknown>;
  /** Ends as expired every session whose seats have been idle for so long; `onFailure` is told, once each, of those that it cannot end. */
  expireIdle(idleMs: number, onFailure?: (sessionId: string, thrown: unknown) => void): Promise<void>;
  /** Lets go of sessions that nobody has touched for so long; they come back by replay. */
  forgetIdle(idleMs: number): void;
  /** The same of one session at once, whose driver is done with it. */
  forget(sessionId: string): void;
  /** Which sessions wait for players. */
  readonly lobby: Lobby;
  /** How many sessions are in memory. */
  loaded(): number;
}

/** The session after a command, or why the command was rejected. */
type Committed = Result<Session, Rejection>;

/** `pending` is what the next decision builds on; `session` is what readers see: the last state that is on disk. */
interface Live extends Kept {
  session: Session;
  readonly rows: RecordedEvent[];
  pending: { readonly session: Session; readonly version: number };
  /** When the database's copy of the state was last written, on the monotonic clock; -Infinity when this host has not written it. */
  snapshotAt: number;
  /** When it was last read or written, on the monotonic clock. */
  touchedAt: number;
}
type Listener = (kept: Kept) => void;

/** While a session is played its copy in the database is at most this much older than its last action. */
const SNAPSHOT_EVERY_MS = 1_000;
const DRIVEN: Access = { actedBy: "driver", spectators: "none" };

/**
 * `onCommit` is called after each entry of a session, and when a player has joined. `onListenerError` receives what `onCommit` and the
 * listeners of `watch` throw: the entry is on disk by then, so neither the command nor the other listeners may fail. `openRoles` returns
 * the roles of a session whose seats are open.
 */
export function createHost(
  store: SessionStore,
  clock: Clock,
  onCommit: (session: Session) => void = () => {},
  onListenerError: (thrown: unknown, sessionId: string) => void = (thrown) => throwLater(clock, thrown),
  openRoles: (sessionId: string) => readonly Role[] = () => [],
): SessionHost {
  const live = new Map<string, Live>();
  /** By session. Kept apart from `live`, because a session that is read again from its log keeps its listeners. */
  const watchers = new Map<string, Set<Listener>>();
  /** By session; each wait for one listens for errors too, of which there are none. */
  const commits = new EventEmitter().setMaxListeners(0);
  /** Sessions that could not be expired, such as those of a game that this version lacks. */
  const failing = new Set<string>();

  const hold = (session: Session, rows: RecordedEvent[], access: Access, snapshotAt: number): Live => {
    const pending = { session, version: rows.length };
    const held = { session, rows, access, pending, snapshotAt, touchedAt: clock.monotonic() };
    live.set(session.id, held);
    return held;
  };

  const notify = (sessionId: string, listener: () => void): void => {
    try {
      listener();
    } catch (thrown) {
      onListenerError(thrown, sessionId);
    }
  };

  const notifyAll = (found: Live, session: Session): void => {
    for (const listener of [...(watchers.get(session.id) ?? [])]) notify(session.id, () => listener(found));
    notify(session.id, () => onCommit(session));
  };

  /** Whether a session is watched or being written. */
  const isHeld = ({ pending, session }: Live): boolean => watchers.has(session.id) || pending.session !== session;

  const find = (sessionId: string): Live | null => {
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
    return hold(replayed.value, rows, { actedBy, spectators }, Number.NEGATIVE_INFINITY);
  };

  /** Runs a command in a session that `find` has returned in this turn of the event loop: nothing may be awaited between the two. */
  const run = async (found: Live | null, command: Command, alongside?: Submission["alongside"]): Promise<Committed> => {
    if (!found) return rejected("UNKNOWN_SESSION");
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
    notifyAll(found, next);
    return ok(next);
  };

  const lobby = createLobby(openRoles, (sessionId) => {
    const found = find(sessionId);
    if (found) notifyAll(found, found.session);
  });

  return {
    lobby,
    async create({ game, options, seed, seats, alongside, ...given }) {
      const access = { ...DRIVEN, ...given };
      const participants = Object.fromEntries(seats.map((seat) => [seat.role, seat.agentId]));
      const id = newSessionId();
      const { entry, next }: Decision = create({ id, game, options, participants, seed, at: clock.iso() });
      const append = { stream: id, expectedVersion: 0, events: [eventOf(entry)] };
      const setup = { sessionId: id, template: game.id, seed, seats, ...access };
      const adding = [...store.adding(setup, snapshotOf(next), entry.at), ...(alongside?.(id) ?? [])];
      const rows = await store.log.append([append], adding);
      // Another caller may have read it from disk already, and acted in it.
      if (!live.has(id)) hold(next, [...rows], access, clock.monotonic());
      notify(id, () => onCommit(next));
      return next;
    },
    read: find,
    async submit(sessionId, { role, action, expectedTick, byDriver = false, alongside }) {
      const found = find(sessionId);
      if (!found) return rejected("UNKNOWN_SESSION");
      const { game } = found.session;
      const waiting = found.access.actedBy === "seats" ? lobby.waiting(found.session) : null;
      if (waiting) return rejected("WAITING_FOR_PLAYERS", waiting.message);
      const parsed = game.action.safeParse(action);
      const isForbidden = !byDriver && parsed.success && game.isDriversOwn?.(parsed.data) === true;
      const command = { type: "act", role, action: isForbidden ? undefined : parsed.data, expectedTick } as const;
      const decided = await run(found, command, alongside);
      const isForeign = !decided.ok && decided.error.code === "ILLEGAL_ACTION" && parsed.error !== undefined;
      return isForeign ? err({ ...decided.error, message: firstIssue(parsed.error) }) : decided;
    },
    forfeit: async (sessionId, faults, alongside) => run(find(sessionId), { type: "forfeit", faults }, alongside),
    abort: async (sessionId, reason) => run(find(sessionId), { type: "abort", reason }),
    secret(sessionId, purpose) {
      const seed = store.about(sessionId)?.seed;
      return seed === undefined ? null : secretFrom(seed, purpose);
    },
    since(sessionId, seq) {
      const rows = find(sessionId)?.rows ?? [];
      const seed = rows.length > seq + 1 ? store.about(sessionId)?.seed : undefined;
      const steps: Step[] = [];
      if (seed !== undefined) replay(rows, seed, (session, at) => at > seq && steps.push({ seq: at, session }));
      return steps;
    },
    watch(sessionId, listener) {
      if (!find(sessionId)) return () => {};
      const listeners = watchers.get(sessionId) ?? new Set();
      watchers.set(sessionId, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && watchers.get(sessionId) === listeners) watchers.delete(sessionId);
      };
    },
    nextCommit: (sessionId, signal) => once(commits, sessionId, { signal }),
    async expireIdle(idleMs, onFailure) {
      // The dates in the log count: a session may have been idle since before this process started.
      const latest = clock.now() - idleMs;
      for (const sessionId of store.quietSince(latest + SNAPSHOT_EVERY_MS)) {
        try {
          const known = live.get(sessionId);
          if (known && known.pending.session !== known.session) continue; // an entry is being written
          // Not by `find`, which would load the session and count as a use.
          const head = (known?.rows ?? store.log.read(sessionId)).at(-1);
          if (head && Date.parse(parseEntry(head.body).at) <= latest) await run(find(sessionId), { type: "expire" });
        } catch (thrown) {
          if (!failing.has(sessionId)) onFailure?.(sessionId, thrown);
          failing.add(sessionId);
        }
      }
    },
    forgetIdle(idleMs) {
      const latest = clock.monotonic() - idleMs;
      for (const [id, one] of live) {
        const isDriven = one.access.actedBy === "driver" && one.session.status === "active";
        if (one.touchedAt <= latest && !isDriven && !isHeld(one)) live.delete(id);
      }
    },
    forget(sessionId) {
      const found = live.get(sessionId);
      if (found && !isHeld(found)) live.delete(sessionId);
    },
    loaded: () => live.size,
  };
}

/** A secret of a session, from its seed. */
export const secretFrom = (seed: string, purpose: string): string => hmacBase64Url(seed, purpose);

function dueSnapshot(live: Live, next: Session, now: number): Snapshot | null {
  if (next.status === "active" && now - live.snapshotAt < SNAPSHOT_EVERY_MS) return null;
  live.snapshotAt = now;
  return snapshotOf(next);
}

const firstIssue = (error: z.ZodError): string => error.issues[0]?.message ?? "not an action of this game";

const snapshotOf = (session: Session): Snapshot => ({
  state: JSON.stringify(session.state),
  status: session.status,
  tick: session.tick,
});
