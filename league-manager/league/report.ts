import { isDeepStrictEqual } from "node:util";
import { matchRef } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import type { LeagueCommand, NewLeagueEvent } from "./commands.ts";
import { QUOTED_CHARACTERS } from "./events.ts";
import { matchOf } from "./evolve.ts";
import type { League, Match } from "./league.ts";
import { summaryOf } from "./outcome.ts";
import { faultOfResult } from "./result-check.ts";

/** A match that has been aborted so often, through no fault of its players, ends aborted, without points. */
export const MAX_ABORTS = 3;

/** The result of an accepted report. */
export interface Report {
  /** Empty when the same result is recorded already. */
  readonly events: readonly NewLeagueEvent[];
  /**
   * The fault of the result, as the error for the referee; null for a valid result. With a fault the match counts as aborted: the events are
   * appended, and the referee is answered with the error. The session log of the result is not kept.
   */
  readonly fault: ProtocolError | null;
}

/** Decides a result that a referee reports: once for each match, under the current epoch, from the referee of the match. */
export function decideReport(
  league: League,
  { result, refereeId, seed }: Extract<LeagueCommand, { type: "report" }>,
): Result<Report, ProtocolError> {
  const { match_id, epoch } = result;
  const name = matchRef(league.leagueId, match_id);
  const match = matchOf(league, match_id);
  if (!match) return err(protocolError("G003", `no match ${name}`, { match_id }));
  if (match.refereeId !== refereeId || match.epoch !== epoch) {
    const why = `${name} is not yours under epoch ${epoch}`;
    return err(protocolError("L004", why, { match_id, epoch: match.epoch }));
  }
  if (match.status === "completed") return isRecorded(match, result) ? ok(NOTHING) : err(otherResult(name, match));
  const fault = faultOfResult(league, match, seed, result);
  if (fault !== null) {
    const error = protocolError("G001", `result of ${name}: ${fault}`, { match_id });
    const reason = `bad result: ${fault}`.slice(0, QUOTED_CHARACTERS);
    return ok({ events: [abortedBy(match, refereeId, reason, "")], fault: error });
  }
  if (result.termination === "aborted") {
    return ok({ events: [abortedBy(match, refereeId, result.reason, result.log_head)], fault: null });
  }
  return ok({ events: [completedBy(result, refereeId)], fault: null });
}

const NOTHING: Report = { events: [], fault: null };

/** The match is played again, or is aborted for good. */
function abortedBy(match: Match, referee_id: string, reason: string, log_head: string): NewLeagueEvent {
  const common = { match_id: match.matchId, epoch: match.epoch, referee_id };
  return match.aborts + 1 < MAX_ABORTS
    ? { type: "match_released", ...common, reason: "aborted", detail: reason }
    : { type: "match_aborted", ...common, reason, log_head };
}

function completedBy(result: MatchResult, referee_id: string): NewLeagueEvent {
  const { match_id, epoch, winner, final_scores, match_points, termination, reason, faults, log_head } = result;
  const summary = { winner, final_scores, match_points, termination, reason, faults, log_head };
  return { type: "match_completed", match_id, epoch, referee_id, ...summary };
}

/** Whether a result is the one that is recorded. Of an aborted match only the reason and the log are. */
function isRecorded(match: Match, result: MatchResult): boolean {
  if (result.round_id !== match.roundId) return false;
  const recorded = summaryOf(match);
  const isAborted = recorded.termination === "aborted";
  const { winner, termination, reason, log_head } = result;
  const { final_scores, match_points, faults } = isAborted ? recorded : result;
  return isDeepStrictEqual({ winner, final_scores, match_points, termination, reason, faults, log_head }, recorded);
}

function otherResult(name: string, match: Match): ProtocolError {
  const { matchId: match_id } = match;
  const { winner, termination, log_head } = summaryOf(match);
  const why = `another result of ${name} is recorded: ${termination}, winner ${winner ?? "none"}`;
  return protocolError("G001", why, { match_id, winner, termination, log_head });
}
