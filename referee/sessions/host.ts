import { once } from "node:events";
import type { z } from "zod";
import type { Game, Role } from "#shared/games/game.ts";
import { type Clock, throwLater } from "#shared/lib/clock.ts";
import { hmacBase64Url } from "#shared/lib/hash.ts";
import type { RecordedEvent } from "#shared/lib/hash-chain.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { err } from "#shared/lib/result.ts";
import { eventOf, type Fault } from "#shared/session/entry.ts";
import { replay } from "#shared/session/replay.ts";
import { create, type Decision, type Session } from "#shared/session/session.ts";
import type { Statement } from "#shared/store/group-commit.ts";
import { expiry } from "./expiry.ts";
import {
  type Alongside,
  type Committed,
  createLiveSessions,
  find,
  forget,
  forgetIdle,
  hold,
  type Kept,
  type Live,
  type LiveSessions,
  notifyAll,
  notifyCommit,
  type OnListenerError,
  run,
  snapshotOf,
  watch,
} from "./live-sessions.ts";
import { createLobby, type Lobby } from "./lobby.ts";
import { rejected } from "./rejections.ts";
import type { Access, Seat, SessionStore } from "./session-store.ts";

interface NewSessionOptions extends Partial<Access> {
  readonly game: Game;
  /** Parsed by the game. */
  readonly options: unknown;
  readonly seed: string;
  readonly seats: readonly Seat[];
  /** Writes what belongs to the session, in its transaction. */
  readonly alongside?: (sessionId: string) => readonly Statement[];
}

/** A session as it was after one entry of its log. */
export interface Step {
  readonly seq: number;
  readonly session: Session;
}

interface Submission {
  readonly role: Role;
  /** Any JSON. A value that is not an action of the game is rejected as illegal. */
  readonly action: unknown;
  /** The tick that the action answers; null for no check. */
  readonly expectedTick: number | null;
  /** Whether it comes from a driver, which may go on without its role. */
  readonly byDriver?: boolean;
  /** Writes what belongs to the action, in its transaction, given the session after it. */
  readonly alongside?: Alongside;
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
  forfeit(sessionId: string, faults: readonly Fault[], alongside?: Alongside): Promise<Committed>;
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

const DRIVEN: Access = { actedBy: "driver", spectators: "none" };

/**
 * `onCommit` is called after each entry of a session, and when a player has joined. `onListenerError` receives what `onCommit` and the
 * listeners of `watch` throw: the entry is on disk by then, so neither the command nor the other listeners may fail. `openRoles` returns
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
  const lobby = createLobby(openRoles, (sessionId) => {
    const found = read(sessionId);
    if (found) notifyAll(sessions, found, found.session);
  });
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
    loaded: () => sessions.live.size,
  };
}

async function addSession(sessions: LiveSessions, id: string, options: NewSessionOptions): Promise<Session> {
  const { game, options: ofGame, seed, seats, alongside, ...given } = options;
  const { store, clock, live } = sessions;
  const access = { ...DRIVEN, ...given };
  const participants = Object.fromEntries(seats.map((seat) => [seat.role, seat.agentId]));
  const { entry, next }: Decision = create({ id, game, options: ofGame, participants, seed, at: clock.iso() });
  const append = { stream: id, expectedVersion: 0, events: [eventOf(entry)] };
  const setup = { sessionId: id, template: game.id, seed, seats, ...access };
  const adding = [...store.adding(setup, snapshotOf(next), entry.at), ...(alongside?.(id) ?? [])];
  const rows = await store.log.append([append], adding);
  // Another caller may have read it from disk already, and acted in it.
  if (!live.has(id)) hold(sessions, next, [...rows], access, clock.monotonic());
  notifyCommit(sessions, next);
  return next;
}

/** Nothing may be awaited before `run`. */
async function submit(
  sessions: LiveSessions,
  lobby: Lobby,
  found: Live | null,
  { role, action, expectedTick, byDriver = false, alongside }: Submission,
): Promise<Committed> {
  if (!found) return rejected("UNKNOWN_SESSION");
  const { game } = found.session;
  const waiting = found.access.actedBy === "seats" ? lobby.waiting(found.session) : null;
  if (waiting) return rejected("WAITING_FOR_PLAYERS", waiting.message);
  const parsed = game.action.safeParse(action);
  const isForbidden = !byDriver && parsed.success && game.isDriversOwn?.(parsed.data) === true;
  const command = { type: "act", role, action: isForbidden ? undefined : parsed.data, expectedTick } as const;
  const decided = await run(sessions, found, command, alongside);
  const isForeign = !decided.ok && decided.error.code === "ILLEGAL_ACTION" && parsed.error !== undefined;
  return isForeign ? err({ ...decided.error, message: firstIssue(parsed.error) }) : decided;
}

/** The session after each entry behind `seq`, replayed from its log. */
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

/** A secret of a session, from its seed. */
export const secretFrom = (seed: string, purpose: string): string => hmacBase64Url(seed, purpose);

const firstIssue = (error: z.ZodError): string => error.issues[0]?.message ?? "not an action of this game";
