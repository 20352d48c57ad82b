import { isDeepStrictEqual } from "node:util";
import { matchRef } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { faultsOfMatch } from "#shared/session/match-result.ts";
import type { Agent } from "./agents.ts";
import type { Dispatcher } from "./dispatch.ts";
import type { LeagueEvent } from "./events.ts";
import { faultOfUnplayed, type League, type Match, rowOf } from "./league.ts";
import type { Rounds } from "./rounds.ts";
import type { ManagerStore } from "./tables.ts";

/** A match that has been aborted so often, through no fault of its players, ends aborted, without points. */
const MAX_ABORTS = 3;

export interface Recorder {
  record(
    result: MatchResult,
    referee: Agent,
  ): Promise<Result<{ status: "RECORDED" | "ALREADY_RECORDED" }, ProtocolError>>;
  /** The referee that has a match will not end it: played again by whoever is next, or aborted for good. */
  abort(match: Match, reason: string): Promise<void>;
}

export interface RecorderOptions {
  readonly leagues: ReadonlyMap<string, League>;
  readonly store: ManagerStore;
  readonly dispatcher: Dispatcher;
  readonly rounds: Rounds;
  readonly seedOf: (match: Match) => string;
  readonly emit: (event: LeagueEvent) => void;
}

/** Takes match results: once each, under the current epoch, from the referee that the match was given to. */
export function createRecorder({ leagues, store, dispatcher, rounds, seedOf, emit }: RecorderOptions): Recorder {
  const recording = new Map<Match, Promise<void>>();

  /** Aborted through no fault of its players: played again under a new epoch. */
  const playAgain = async (match: Match, reason: string): Promise<void> => {
    emit({ type: "notice", message: `${nameOf(match)} was aborted (${inOneLine(reason)}) and is played again` });
    dispatcher.release(match, "failed");
    Object.assign(match, { aborts: match.aborts + 1, epoch: match.epoch + 1, status: "scheduled", refereeId: null });
    await store.updateMatch(rowOf(match));
    dispatcher.enqueue([match]);
  };

  const record: Recorder["record"] = async (result, referee) => {
    const league = leagues.get(result.league_id);
    const match = league?.matches.get(result.match_id);
    const { league_id, match_id } = result;
    if (!league) return err(protocolError("L005", `no league ${league_id}`, { league_id }));
    if (!match) return err(protocolError("G003", `no match ${matchRef(league_id, match_id)}`, { match_id }));
    // The same result twice at once: each copy is judged when the one before it is on disk, and nothing is awaited between that and its own turn.
    while (recording.has(match)) await recording.get(match)?.catch(() => {});
    const isTheirs = match.refereeId === referee.id && result.epoch === match.epoch;
    if (!isTheirs) {
      const why = `${nameOf(match)} is not yours under epoch ${result.epoch}`;
      return err(protocolError("L004", why, { match_id: match.matchId, epoch: match.epoch }));
    }
    if (match.status === "completed") return recorded(match, result);
    const fault = faultOfResult(league, match, seedOf(match), result);
    // A result that cannot be is the referee's failure: the match counts as aborted, and the referee is told.
    const { log: entries, ...kept } = fault ? abortedBy(result, fault) : result;
    const isPlayedAgain = kept.termination === "aborted" && match.aborts + 1 < MAX_ABORTS;
    const done = isPlayedAgain ? playAgain(match, kept.reason) : rounds.complete(match, kept, entries, referee);
    recording.set(match, done);
    try {
      await done;
    } finally {
      recording.delete(match);
    }
    if (!fault) return ok({ status: "RECORDED" });
    return err(protocolError("G001", `result of ${nameOf(match)}: ${fault}`, { match_id: match.matchId }));
  };
  const abort: Recorder["abort"] = async (match, reason) => {
    if (match.status !== "assigned" || recording.has(match)) return;
    const { leagueId: league_id, matchId: match_id, roundId: round_id, epoch } = match;
    const nothing = { winner: null, final_scores: {}, match_points: {}, faults: [], log_head: "" };
    const aborted = { league_id, match_id, round_id, epoch, ...nothing, termination: "aborted", reason } as const;
    const informReferee = dispatcher.withdraw(match);
    const done = match.aborts + 1 < MAX_ABORTS ? playAgain(match, reason) : rounds.complete(match, aborted, [], null);
    recording.set(match, done);
    await done.finally(() => recording.delete(match));
    informReferee();
  };

  return { record, abort };
}

/** The answer to another report of a match that has its result. */
function recorded(
  match: Match,
  { log: _, ...again }: MatchResult,
): Result<{ status: "ALREADY_RECORDED" }, ProtocolError> {
  const { result } = match;
  if (isDeepStrictEqual(again, result)) return ok({ status: "ALREADY_RECORDED" });
  const { winner = null, termination = null, log_head = null } = result ?? {};
  const why = `another result of ${nameOf(match)} is recorded: ${termination}, winner ${winner ?? "none"}`;
  return err(protocolError("G001", why, { match_id: match.matchId, winner, termination, log_head }));
}

const abortedBy = (result: MatchResult, fault: string): MatchResult => ({
  ...result,
  winner: null,
  match_points: {},
  final_scores: {},
  faults: [],
  termination: "aborted",
  reason: `bad result: ${fault}`.slice(0, REASON_CHARACTERS),
  log_head: "",
  log: [],
});

/** Of a fault, which may quote what the referee said. */
const REASON_CHARACTERS = 300;

const nameOf = (match: Match): string => matchRef(match.leagueId, match.matchId);

/** What is wrong with a result, or null. The log is the truth: all else must follow from it, by the rules, the league's options and the match's seed. */
function faultOfResult({ config, game }: League, match: Match, seed: string, result: MatchResult): string | null {
  if (result.round_id !== match.roundId) return `round ${result.round_id} is not the match's`;
  if (result.termination !== "aborted" || result.log.length > 0) {
    const told = { ...result, game: game.id, options: config.options, seed, roles: match.roles };
    return faultsOfMatch(told)[0] ?? null;
  }
  return faultOfUnplayed(match.roles, result); // the referee had nothing that it could play
}
