import { isDeepStrictEqual } from "node:util";
import { matchRef } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import type { LeagueCommand, NewLeagueEvent } from "../commands.ts";
import { QUOTED_CHARACTERS } from "../events.ts";
import { matchOf } from "../evolve.ts";
import type { League, Match } from "../league.ts";
import { summaryOf } from "../outcome.ts";
import { faultOfResult } from "../result-check.ts";

/** The number of aborts after which a match is completed as aborted, without points. */
export const MAX_ABORTS = 3;

/** The decision about an accepted report. */
interface Report {
  /** Empty if the same result is already recorded. */
  readonly events: readonly NewLeagueEvent[];
  /**
   * The error for the referee if the result contradicts its log, else null. With a fault the match counts as aborted: the caller appends the events,
   * answers the referee with the error, and does not store the session log.
   */
  readonly fault: ProtocolError | null;
}

/**
 * Decides the result that a referee reports. Returns G003 for an unknown match, L004 if the match is not assigned to the referee under the epoch,
 * and G001 if another result is recorded.
 */
export function decideReport(
  league: League,
  { result, refereeId, seed }: Extract<LeagueCommand, { type: "report" }>,
): Result<Report, ProtocolError> {
  const { match_id, epoch } = result;
  const name = matchRef(league.leagueId, match_id);
  const match = matchOf(league, match_id);
  if (!match) return err(protocolError("G003", `no match ${name}`, { match_id }));
  if (match.refereeId !== refereeId || match.epoch !== epoch) {
    const message = `${name} is not assigned to ${refereeId} under epoch ${epoch}`;
    return err(protocolError("L004", message, { match_id, epoch: match.epoch }));
  }
  if (match.status === "completed") return isRecorded(match, result) ? ok(NO_EVENTS) : err(conflictError(name, match));
  const fault = faultOfResult(league, match, seed, result);
  if (fault !== null) {
    const error = protocolError("G001", `result of ${name}: ${fault}`, { match_id });
    const reason = `bad result: ${fault}`.slice(0, QUOTED_CHARACTERS);
    return ok({ events: [abortEvent(match, refereeId, reason, "")], fault: error });
  }
  if (result.termination === "aborted") {
    return ok({ events: [abortEvent(match, refereeId, result.reason, result.log_head)], fault: null });
  }
  return ok({ events: [completionEvent(result, refereeId)], fault: null });
}

const NO_EVENTS: Report = { events: [], fault: null };

/** The event of an abort: the match is released to be played again, or completed as aborted after `MAX_ABORTS`. */
function abortEvent(match: Match, referee_id: string, reason: string, log_head: string): NewLeagueEvent {
  const common = { match_id: match.matchId, epoch: match.epoch, referee_id };
  return match.aborts + 1 < MAX_ABORTS
    ? { type: "match_released", ...common, reason: "aborted", detail: reason }
    : { type: "match_aborted", ...common, reason, log_head };
}

/** The event that records the result of a match that is played to its end. */
export function completionEvent(result: MatchResult, referee_id: string): NewLeagueEvent {
  const { match_id, epoch, winner, final_scores, match_points, termination, reason, faults, log_head } = result;
  const summary = { winner, final_scores, match_points, termination, reason, faults, log_head };
  return { type: "match_completed", match_id, epoch, referee_id, ...summary };
}

/** Whether a result equals the recorded one. The record of an aborted match has no scores, points and faults, so they are not compared. */
function isRecorded(match: Match, result: MatchResult): boolean {
  if (result.round_id !== match.roundId) return false;
  const recorded = summaryOf(match);
  const isAborted = recorded.termination === "aborted";
  const { winner, termination, reason, log_head } = result;
  const { final_scores, match_points, faults } = isAborted ? recorded : result;
  return isDeepStrictEqual({ winner, final_scores, match_points, termination, reason, faults, log_head }, recorded);
}

function conflictError(name: string, match: Match): ProtocolError {
  const { matchId: match_id } = match;
  const { winner, termination, log_head } = summaryOf(match);
  const message = `another result of ${name} is recorded: ${termination}, winner ${winner ?? "none"}`;
  return protocolError("G001", message, { match_id, winner, termination, log_head });
}
