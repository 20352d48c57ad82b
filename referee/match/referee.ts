import { isDeepStrictEqual } from "node:util";
import { findGame } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import type { SessionHost } from "../sessions/host.ts";
import { protocolRejected } from "../sessions/rejections.ts";
import { MatchNames } from "./match-names.ts";
import type { MatchRow, MatchTable } from "./match-table.ts";
import { type HostedDriver, MatchWithdrawn, matchResult, playMatch, seatsOf } from "./play-match.ts";
import { type ReportOptions, reportResult } from "./report-result.ts";

/** The matches that the league manager has assigned to this referee. */
export interface Referee {
  /** Starts a match. A repeated order returns the same session. */
  start(order: StartGame): Promise<Result<StartedMatch, ProtocolError>>;
  /** Stops a match under this epoch or an older one, because it is assigned to another referee. */
  withdraw(leagueId: string, matchId: string, epoch: number): void;
  /** The session id of a match, which is named by its id or by `league_id/match_id`. */
  sessionOf(ref: string): Result<string, ProtocolError>;
  /** The names of the players of matches, for the pages. */
  readonly names: MatchNames;
  /** The matches under way; `ref` is `league_id/match_id`. */
  running(): readonly { readonly ref: string; readonly order: StartGame; readonly sessionId: string }[];
  /** The matches under way or being started, as `league_id/match_id`. They count toward `max_concurrent_matches`. */
  activeMatches(): ReadonlySet<string>;
  /** Stops all matches without a result. They are resumed after a restart. */
  stop(): Promise<void>;
  /** Ends the matches that `stop` has stopped, because the manager has taken them back. */
  giveUp(): Promise<void>;
}

/** An order that is being handled. */
interface Starting {
  /** Resolves when the order has been accepted or rejected. */
  readonly handled: Promise<void>;
  readonly runId: string | null;
}

/** Creates a referee without matches. `options.identity` is set later by the registration. */
export function createReferee(options: RefereeOptions): Referee {
  const { matches, log } = options;
  const state: RefereeState = {
    options,
    running: new Map(),
    sessions: new MatchSessions(matches),
    withdrawals: new Withdrawals(),
    isStopped: false,
  };
  const { running, sessions, withdrawals } = state;
  const names = new MatchNames();
  const startNamed = async (order: StartGame): Promise<Result<StartedMatch, ProtocolError>> => {
    const started = await startMatch(state, order);
    if (started.ok) names.add(started.value.session_id, order);
    return started;
  };
  /** The order of each match that is handled last. Orders of one match are handled one after the other, because each depends on the result of the previous one. */
  const starting = new Map<string, Starting>();
  /** The sessions of the matches that `stop` has stopped, by `league_id/match_id`. */
  const stopped = new Map<string, string>();
  return {
    start(order) {
      const ref = matchRef(order.league_id, order.match_id);
      const previous = starting.get(ref);
      const started = previous ? previous.handled.then(() => startNamed(order)) : startNamed(order);
      const handled = started.then(
        () => {},
        () => {},
      );
      const entry = { handled, runId: order.run_id ?? null };
      starting.set(ref, entry);
      handled.then(() => starting.get(ref) === entry && starting.delete(ref));
      return started;
    },
    withdraw(leagueId, matchId, epoch) {
      const ref = matchRef(leagueId, matchId);
      const stored = matches.find(leagueId, matchId);
      // The message does not contain the run. It may be repeated after the match has ended here, so the stored run is used as well.
      const runId = starting.get(ref)?.runId ?? running.get(ref)?.order.run_id ?? stored?.run_id ?? null;
      withdrawals.add(ref, epoch, runId);
      log.warn({ match: ref, epoch }, WITHDRAWN);
      if (!stored || stored.epoch > epoch) return;
      running.get(ref)?.withdraw.abort();
      running.delete(ref);
      abandon(options, stored.session_id, WITHDRAWN);
    },
    sessionOf: (ref) => sessions.of(ref),
    names,
    running: () => [...running].map(([ref, { order, sessionId }]) => ({ ref, order, sessionId })),
    activeMatches: () => new Set([...running.keys(), ...starting.keys()]),
    async stop() {
      state.isStopped = true;
      for (const [ref, match] of running) {
        stopped.set(ref, match.sessionId);
        match.withdraw.abort();
      }
    },
    async giveUp() {
      // A session that is completed stays so, although its result was not recorded.
      const aborts = [...stopped.values()].map((sessionId) => options.driver.host.abort(sessionId, WITHDRAWN));
      await Promise.allSettled(aborts);
    },
  };
}

interface RefereeOptions extends ReportOptions {
  readonly driver: HostedDriver;
  readonly matches: MatchTable;
  /** Called after match tokens of seats have changed in the database. */
  readonly onTokensChanged?: () => void;
}

/** A match under way. Aborting `withdraw` stops it. */
interface Running {
  readonly order: StartGame;
  readonly sessionId: string;
  readonly withdraw: AbortController;
}

/** The matches of a referee. */
interface RefereeState {
  readonly options: RefereeOptions;
  /** The matches under way, by `league_id/match_id`. */
  readonly running: Map<string, Running>;
  readonly sessions: MatchSessions;
  readonly withdrawals: Withdrawals;
  isStopped: boolean;
}

/** The reason of a session whose match was withdrawn. */
const WITHDRAWN = "the match was assigned to another referee";

/** Replaces the token of a seat that is stored from an earlier epoch or run, if the new order has another token. */
const UPDATE_TOKEN = "UPDATE agents SET token = ?1 WHERE agent_id = ?2 AND token <> ?1";

interface StartedMatch {
  readonly match_id: string;
  readonly session_id: string;
}

/** Starts or resumes the match of an order, or rejects the order. Orders of one match must be handled one after the other. */
async function startMatch(state: RefereeState, order: StartGame): Promise<Result<StartedMatch, ProtocolError>> {
  const { options, running, withdrawals } = state;
  const { matches, driver } = options;
  const { league_id, match_id, epoch } = order;
  const ref = matchRef(league_id, match_id);
  const stored = matches.find(league_id, match_id);
  const newest = stored && isOfRun(driver.host, stored, order) ? stored : null;
  if (newest && newest.epoch > epoch) {
    const context = { match_id, epoch: newest.epoch };
    return protocolRejected("MATCH_SUPERSEDED", `${ref} was started under epoch ${newest.epoch}`, context);
  }
  const current = running.get(ref);
  const rejection = withdrawals.rejectionOf(order);
  if (rejection) return rejection;
  if (newest?.epoch === epoch && current) return ok({ match_id, session_id: current.sessionId });
  current?.withdraw.abort();
  const isResumed = newest?.epoch === epoch;
  // The old session is aborted first: after a crash between the two steps it would otherwise stay active.
  if (stored && !isResumed) {
    abandon(
      options,
      stored.session_id,
      newest ? `played again under epoch ${epoch}` : "a new run of the league was started",
    );
  }
  if (stored && !newest) {
    await matches.forget(league_id, match_id);
    options.onTokensChanged?.();
  }
  const sessionId = isResumed ? newest.session_id : await createSession(state, order, stored !== null);
  // The match may have been withdrawn while its session was created.
  const lateRejection = withdrawals.rejectionOf(order);
  if (lateRejection) {
    abandon(options, sessionId, WITHDRAWN);
    return lateRejection;
  }
  const withdraw = new AbortController();
  if (state.isStopped) withdraw.abort();
  runMatch(state, { order, sessionId, withdraw });
  return ok({ match_id, session_id: sessionId });
}

/** Creates the session of a match. If the match is known, also replaces the tokens of its seats in the database. */
async function createSession({ options, sessions }: RefereeState, order: StartGame, isKnown: boolean): Promise<string> {
  const { driver, matches } = options;
  const { league_id, match_id, epoch, run_id = null } = order;
  const game = findGame(order.game);
  if (!game) throw new Error(`unknown game ${order.game}`);
  const parsed = game.options.parse(order.options ?? {});
  const seats = seatsOf(order);
  const alongside = (session_id: string) => [
    ...matches.adding({ league_id, match_id, epoch, session_id, run_id }),
    ...(isKnown
      ? seats.map(({ agentId, tokenHash }) => ({ sql: UPDATE_TOKEN, parameters: [tokenHash, agentId] }))
      : []),
  ];
  const { seed, clock } = order;
  const session = await driver.host.create({ game, options: parsed, seed, clock, seats, alongside });
  if (isKnown) options.onTokensChanged?.();
  sessions.forget();
  return session.id;
}

/**
 * Whether a stored match belongs to the run of an order, and not to an earlier run with a match of the same name. Without run ids the
 * seed distinguishes the runs: a manager that does not send `run_id` uses one seed for all epochs of a match.
 */
function isOfRun(host: SessionHost, stored: MatchRow, order: StartGame): boolean {
  if (stored.run_id !== null && order.run_id != null) {
    if (stored.run_id !== order.run_id) return false;
    if (stored.epoch !== order.epoch) return true;
  }
  const session = host.read(stored.session_id)?.session;
  const participants = Object.fromEntries(seatsOf(order).map(({ role, agentId }) => [role, agentId]));
  return session?.seedCommitment === sha256Hex(order.seed) && isDeepStrictEqual(session.participants, participants);
}

/** The public reason of a match that failed because of an error of this program. The error itself may contain paths of this machine. */
const INTERNAL_ERROR = "the referee could not play the match; its log has the cause";

/** Plays a match in the background, reports its result and removes it from the running matches. */
function runMatch({ options, running }: RefereeState, match: Running): void {
  const { driver, log } = options;
  const { order, sessionId } = match;
  const ref = matchRef(order.league_id, order.match_id);
  running.set(ref, match);
  playAndReport(options, match)
    .catch((thrown) => log.error({ err: thrown, match: ref }, "a match could not be finished"))
    .finally(() => {
      if (running.get(ref) === match) running.delete(ref);
      driver.host.forget(sessionId);
    });
}

async function playAndReport(options: RefereeOptions, { order, sessionId, withdraw }: Running): Promise<void> {
  const { driver, log } = options;
  const ref = matchRef(order.league_id, order.match_id);
  // Ends the requests to the other players, which would otherwise be repeated until their time limit.
  const failure = new AbortController();
  let result: MatchResult;
  try {
    result = await playMatch(driver, order, sessionId, AbortSignal.any([withdraw.signal, failure.signal]));
  } catch (thrown) {
    failure.abort();
    if (thrown instanceof MatchWithdrawn || withdraw.signal.aborted) return;
    log.error({ err: thrown, match: ref }, "a match failed because of an internal error");
    result = await abortedResult(driver, order, sessionId);
  }
  await reportResult(options, order, sessionId, result, withdraw.signal);
}

/** Aborts a match that failed because of an internal error, and returns its result. A completed match keeps its result. */
async function abortedResult(driver: HostedDriver, order: StartGame, sessionId: string): Promise<MatchResult> {
  const { host } = driver;
  await host.abort(sessionId, INTERNAL_ERROR).catch(() => {});
  const session = host.read(sessionId)?.session;
  if (session?.status === "completed") return matchResult(driver, order, session);
  const { league_id, round_id, match_id, epoch } = order;
  const empty = { winner: null, final_scores: {}, match_points: {}, faults: [], log_head: "", log: [] };
  return { league_id, round_id, match_id, epoch, ...empty, termination: "aborted", reason: INTERNAL_ERROR };
}

/** Aborts a session whose match is played by another referee or again. Otherwise it would stay active in lists, streams and memory. */
function abandon({ driver: { host }, log }: RefereeOptions, sessionId: string, reason: string): void {
  host
    .abort(sessionId, reason)
    .catch((thrown) => log.error({ err: thrown, session: sessionId }, "a session could not be aborted"))
    .finally(() => host.forget(sessionId));
}

const MAX_CACHED = 1_000;

/** Finds the sessions of matches. The results are cached, because each query locks and unlocks the file, which takes 60 µs. */
class MatchSessions {
  readonly #matches: MatchTable;
  readonly #cache = new Map<string, string>();

  constructor(matches: MatchTable) {
    this.#matches = matches;
  }

  /** Returns the session id of a match, which is named by its id or by `league_id/match_id`. */
  of(ref: string): Result<string, ProtocolError> {
    const known = this.#cache.get(ref);
    if (known) return ok(known);
    const slash = ref.indexOf("/");
    const matchId = slash < 0 ? ref : ref.slice(slash + 1);
    const leagues = slash < 0 ? this.#matches.leaguesOf(ref) : [ref.slice(0, slash)];
    const league = leagues[0];
    if (leagues.length > 1) {
      const choices = leagues.map((id) => matchRef(id, matchId));
      return protocolRejected("AMBIGUOUS_MATCH", `${ref} is a match of several leagues; give league_id/match_id`, {
        choices,
      });
    }
    const found = league === undefined ? null : this.#matches.find(league, matchId);
    if (!found) return protocolRejected("UNKNOWN_SESSION", `no match ${ref} here`, { match_id: ref });
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    this.#cache.set(ref, found.session_id);
    return ok(found.session_id);
  }

  /** Clears the cache. Must be called after a match has been created, because a match id may then name another session. */
  forget(): void {
    this.#cache.clear();
  }
}

interface Withdrawal {
  readonly epoch: number;
  /** null if the run is unknown. */
  readonly runId: string | null;
}

/** The number of withdrawals that are remembered. */
const MAX_WITHDRAWALS = 10_000;

/** The highest withdrawn epoch of each match, by `league_id/match_id`. It also contains matches that were not started yet. */
class Withdrawals {
  readonly #byMatch = new Map<string, Withdrawal>();

  add(ref: string, epoch: number, runId: string | null): void {
    if (this.#byMatch.size >= MAX_WITHDRAWALS) this.#byMatch.delete(this.#byMatch.keys().next().value ?? "");
    const previous = this.#byMatch.get(ref);
    this.#byMatch.set(ref, { epoch: Math.max(epoch, previous?.runId === runId ? previous.epoch : 0), runId });
  }

  /** The rejection of an order whose match was withdrawn under its epoch or a later one; null if it was not. */
  rejectionOf({ league_id, match_id, epoch, run_id = null }: StartGame): ReturnType<typeof protocolRejected> | null {
    const ref = matchRef(league_id, match_id);
    const last = this.#byMatch.get(ref);
    const isOfRun = last?.runId === null || run_id === null || last?.runId === run_id;
    if (!last || !isOfRun || epoch > last.epoch) return null;
    const context = { match_id, epoch: last.epoch };
    return protocolRejected("MATCH_SUPERSEDED", `${ref} was withdrawn under epoch ${last.epoch}`, context);
  }
}
