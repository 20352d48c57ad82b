import { isDeepStrictEqual } from "node:util";
import { findGame } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { MatchWithdrawn } from "./match/driven-match.ts";
import type { MatchRow, MatchTable } from "./match/match-table.ts";
import { matchResult, seatsOf } from "./match/messages.ts";
import { playMatch } from "./match/play-match.ts";
import { type ReportOptions, reportResult } from "./match/report.ts";
import { protocolRejected } from "./sessions/rejections.ts";

interface RefereeOptions extends ReportOptions {
  readonly matches: MatchTable;
  /** Called after match tokens of seats have changed in the database. */
  readonly onTokensChanged?: () => void;
}

export interface Referee {
  /** Takes a match; the same order again is accepted once. */
  start(order: StartGame): Promise<Result<{ match_id: string; session_id: string }, ProtocolError>>;
  /** The match belongs to another referee now: stops asking about it under this epoch or an older one. */
  withdraw(leagueId: string, matchId: string, epoch: number): void;
  /** The session of a match id, alone or as `league_id/match_id`. */
  sessionOf(ref: string): Result<string, ProtocolError>;
  /** Matches being played now, by `league_id/match_id`. */
  running(): readonly { readonly ref: string; readonly order: StartGame; readonly sessionId: string }[];
  /** Matches that are being played or started, by `league_id/match_id`: each has a place of `max_concurrent_matches`. */
  places(): ReadonlySet<string>;
  stop(): Promise<void>;
}

type Superseded = ReturnType<typeof protocolRejected>;

interface Running {
  readonly order: StartGame;
  readonly sessionId: string;
  readonly withdraw: AbortController;
}

const MAX_LOOKED_UP = 1_000;
/** Withdrawals that are remembered at once. */
const MAX_WITHDRAWN = 10_000;
/** The public reason of a match that failed by a fault of this program. The error itself may name paths of this machine. */
const OUR_FAULT = "the referee could not play the match; its log has the cause";
const WITHDRAWN = "the match was given to another referee";
/** A seat that is known here from an earlier epoch or run may have another token now. */
const UPDATE_TOKEN = "UPDATE agents SET token = ?1 WHERE agent_id = ?2 AND token <> ?1";

export function createReferee(options: RefereeOptions): Referee {
  const { driver, matches, log, onTokensChanged = () => {} } = options;
  const { host } = driver;
  const running = new Map<string, Running>();
  /** Orders of one match are handled one after the other, because each depends on what the one before has begun. */
  const starting = new Map<string, { readonly isOver: Promise<void>; readonly runId: string | null }>();
  /** Sessions by match, as they were last asked for, until another match is created: a look into the file locks it twice, 60 µs. */
  const lookedUp = new Map<string, string>();
  /** The highest withdrawn epoch of each match, also of one that was still being started, and its run; null if the run is unknown. */
  const withdrawn = new Map<string, { readonly epoch: number; readonly runId: string | null }>();
  let isStopped = false;

  const wasWithdrawn = ({ league_id, match_id, epoch, run_id = null }: StartGame): Superseded | null => {
    const ref = matchRef(league_id, match_id);
    const last = withdrawn.get(ref);
    const isOfRun = last?.runId === null || run_id === null || last?.runId === run_id;
    if (!last || !isOfRun || epoch > last.epoch) return null;
    return protocolRejected("MATCH_SUPERSEDED", `${ref} was withdrawn under epoch ${last.epoch}`, { match_id });
  };

  const create = async (order: StartGame, isKnown: boolean): Promise<string> => {
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
    const session = await host.create({ game, options: parsed, seed: order.seed, seats, alongside });
    if (isKnown) onTokensChanged();
    lookedUp.clear();
    return session.id;
  };

  /**
   * Whether a stored match belongs to the run of an order, and not to an earlier run with a match of the same name. Without run ids the
   * seed tells the runs apart: a manager that names no run uses one seed for all epochs of a match.
   */
  const isOfRun = (kept: MatchRow, order: StartGame): boolean => {
    if (kept.run_id !== null && order.run_id != null) {
      if (kept.run_id !== order.run_id) return false;
      if (kept.epoch !== order.epoch) return true;
    }
    const session = host.read(kept.session_id)?.session;
    const participants = Object.fromEntries(seatsOf(order).map(({ role, agentId }) => [role, agentId]));
    return session?.seedCommitment === sha256Hex(order.seed) && isDeepStrictEqual(session.participants, participants);
  };

  /** Ends a session whose match is played elsewhere or again; otherwise it would stay active for ever in lists, streams and memory. */
  const abandon = (sessionId: string, reason: string): void => {
    host
      .abort(sessionId, reason)
      .catch((thrown) => log.error({ err: thrown, session: sessionId }, "a session could not be aborted"))
      .finally(() => host.forget(sessionId));
  };

  const play = async (order: StartGame, sessionId: string, withdraw: AbortController): Promise<void> => {
    const ref = matchRef(order.league_id, order.match_id);
    let result: MatchResult;
    try {
      result = await playMatch(driver, order, sessionId, withdraw.signal);
    } catch (thrown) {
      if (thrown instanceof MatchWithdrawn || withdraw.signal.aborted) return;
      log.error({ err: thrown, match: ref }, "a match failed through our fault");
      result = await abortedResult(order, sessionId);
    }
    await reportResult(options, order, result, withdraw.signal);
  };

  const abortedResult = async (order: StartGame, sessionId: string): Promise<MatchResult> => {
    await host.abort(sessionId, OUR_FAULT).catch(() => {});
    const session = host.read(sessionId)?.session;
    if (session?.status === "completed") return matchResult(driver, order, session);
    const { league_id, round_id, match_id, epoch } = order;
    const nothing = { winner: null, final_scores: {}, match_points: {}, faults: [], log_head: "", log: [] };
    return { league_id, round_id, match_id, epoch, ...nothing, termination: "aborted", reason: OUR_FAULT };
  };

  const startNow: Referee["start"] = async (order) => {
    const { league_id, match_id, epoch } = order;
    const ref = matchRef(league_id, match_id);
    const kept = matches.find(league_id, match_id);
    const newest = kept && isOfRun(kept, order) ? kept : null;
    if (newest && newest.epoch > epoch) {
      return protocolRejected("MATCH_SUPERSEDED", `${ref} has been begun under epoch ${newest.epoch}`, { match_id });
    }
    const now = running.get(ref);
    const past = wasWithdrawn(order);
    if (past) return past;
    if (newest?.epoch === epoch && now) return ok({ match_id, session_id: now.sessionId });
    now?.withdraw.abort();
    const isResumed = newest?.epoch === epoch;
    // Before the new session is created: after a crash between the two, the old session would stay active.
    if (kept && !isResumed) {
      abandon(kept.session_id, newest ? `played again under epoch ${epoch}` : "the league was started afresh");
    }
    if (kept && !newest) {
      await matches.forget(league_id, match_id);
      onTokensChanged();
    }
    const sessionId = isResumed ? newest.session_id : await create(order, kept !== null);
    const pastNow = wasWithdrawn(order);
    if (pastNow) {
      abandon(sessionId, WITHDRAWN);
      return pastNow;
    }
    const withdraw = new AbortController();
    if (isStopped) withdraw.abort();
    const entry: Running = { order, sessionId, withdraw };
    running.set(ref, entry);
    play(order, sessionId, withdraw)
      .catch((thrown) => log.error({ err: thrown, match: ref }, "a match could not be finished"))
      .finally(() => {
        if (running.get(ref) === entry) running.delete(ref);
        host.forget(sessionId);
      });
    return ok({ match_id, session_id: sessionId });
  };

  return {
    start(order) {
      const ref = matchRef(order.league_id, order.match_id);
      const before = starting.get(ref);
      const started = before ? before.isOver.then(() => startNow(order)) : startNow(order);
      const isOver = started.then(
        () => {},
        () => {},
      );
      const entry = { isOver, runId: order.run_id ?? null };
      starting.set(ref, entry);
      isOver.then(() => starting.get(ref) === entry && starting.delete(ref));
      return started;
    },

    withdraw(leagueId, matchId, epoch) {
      const ref = matchRef(leagueId, matchId);
      if (withdrawn.size >= MAX_WITHDRAWN) withdrawn.delete(withdrawn.keys().next().value ?? "");
      const kept = matches.find(leagueId, matchId);
      // The message names no run. It may be repeated when the match no longer runs here, so the stored run counts too.
      const runId = starting.get(ref)?.runId ?? running.get(ref)?.order.run_id ?? kept?.run_id ?? null;
      const before = withdrawn.get(ref);
      withdrawn.set(ref, { epoch: Math.max(epoch, before?.runId === runId ? before.epoch : 0), runId });
      log.warn({ match: ref, epoch }, WITHDRAWN);
      if (!kept || kept.epoch > epoch) return;
      running.get(ref)?.withdraw.abort();
      running.delete(ref);
      abandon(kept.session_id, WITHDRAWN);
    },

    sessionOf(ref) {
      const known = lookedUp.get(ref);
      if (known) return ok(known);
      const slash = ref.indexOf("/");
      const matchId = slash < 0 ? ref : ref.slice(slash + 1);
      const leagues = slash < 0 ? matches.leaguesOf(ref) : [ref.slice(0, slash)];
      const league = leagues[0];
      if (leagues.length > 1) {
        const choices = leagues.map((id) => matchRef(id, matchId));
        return protocolRejected("AMBIGUOUS_MATCH", `${ref} is a match of several leagues; name one of them`, {
          choices,
        });
      }
      const found = league === undefined ? null : matches.find(league, matchId);
      if (!found) return protocolRejected("UNKNOWN_SESSION", `no match ${ref} here`, { match_id: ref });
      if (lookedUp.size >= MAX_LOOKED_UP) lookedUp.clear();
      lookedUp.set(ref, found.session_id);
      return ok(found.session_id);
    },

    running: () => [...running].map(([ref, { order, sessionId }]) => ({ ref, order, sessionId })),

    places: () => new Set([...running.keys(), ...starting.keys()]),

    async stop() {
      isStopped = true;
      for (const { withdraw } of running.values()) withdraw.abort();
    },
  };
}
