import { once } from "node:events";
import type { Game, Role } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { type Clock, throwLater } from "#shared/lib/clock.ts";
import { hmacBase64Url, type RecordedEvent } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import { eventOf, type Fault } from "#shared/session/entry.ts";
import { replay } from "#shared/session/replay.ts";
import { create, type Decision, type Session } from "#shared/session/session.ts";
import type { Statement } from "#shared/store/writer.ts";
import { expiry } from "./expiry.ts";
import {
  type Alongside,
  addLive,
  type Committed,
  createLiveSessions,
  find,
  forget,
  forgetIdle,
  type Live,
  type LiveSessions,
  notifyAll,
  notifyCommit,
  type OnListenerError,
  run,
  type StoredSession,
  snapshotOf,
  watch,
} from "./live-sessions.ts";
import { createLobby, type Lobby } from "./lobby.ts";
import { rejected } from "./rejections.ts";
import type { Access, Seat, SessionStore } from "./session-store.ts";
import { explained, parsedSubmission, type Submission } from "./submission.ts";

interface NewSessionOptions extends Partial<Access> {
  readonly game: Game;
  /** The options, as parsed by the game. */
  readonly options: unknown;
  readonly seed: string;
  /** Absent for a session without clocks. */
  readonly clock?: TimeControl | undefined;
  readonly seats: readonly Seat[];
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
    ...{ id, game, options: gameOptions, participants, seed, clock: timeControl, at: clock.iso() },
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

/** Derives a secret from the seed of a session. */
export const secretFrom = (seed: string, purpose: string): string => hmacBase64Url(seed, purpose);
