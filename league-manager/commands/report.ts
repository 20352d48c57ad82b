import { err } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import type { NewLeagueEvent } from "../league/commands.ts";
import { noLeague } from "../league/decisions/decision.ts";
import { completionEvent, decideReport } from "../league/decisions/report.ts";
import { matchOf } from "../league/evolve.ts";
import { hasTimedOut } from "../league/outcome.ts";
import type { Decide } from "../ledger.ts";
import { Draft } from "./draft.ts";
import { leaveRunningLeagues } from "./leave.ts";

/** The reply to a referee. `FAULTY`: the result contradicts its log, so that it counts as an abort, and the referee receives `fault`. */
export type ReportReply =
  | { readonly status: "RECORDED" | "ALREADY_RECORDED" }
  | { readonly status: "FAULTY"; readonly fault: ProtocolError };

/**
 * Records the result of a match in one append with its session log and the changes of its players. `seed` is the seed of the match under the epoch
 * of the result.
 */
export const reportResult =
  (result: MatchResult, refereeId: string, seed: string): Decide<ReportReply> =>
  (state, at) => {
    const { league_id: leagueId, match_id: matchId, epoch } = result;
    const league = state.leagues.get(leagueId);
    if (!league) return err(noLeague(leagueId, state.leagues.values()));
    const report = decideReport(league, { type: "report", result, refereeId, seed });
    if (!report.ok) return report;
    const { events, fault } = report.value;
    const draft = new Draft(state, at);
    draft.append(leagueId, events);
    const players = matchOf(league, matchId)?.players ?? [];
    for (const event of events) countTimeouts(draft, leagueId, players, event);
    const isCompleted = events.some(({ type }) => type === "match_completed" || type === "match_aborted");
    if (isCompleted && !fault) {
      draft.write({ type: "session_log", leagueId, matchId, epoch, seed, log: result.log });
      for (const playerId of players) {
        const times = result.answer_times?.[playerId];
        if (times) draft.write({ type: "answer_times", leagueId, matchId, epoch, playerId, times });
      }
    }
    if (fault) return draft.decision({ status: "FAULTY", fault });
    return draft.decision({ status: events.length > 0 ? "RECORDED" : "ALREADY_RECORDED" });
  };

/**
 * Records the result of a match that this process has played. The result follows from its session, so its log is not replayed. Timeouts are not counted,
 * because a bot of this process cannot be absent. A match that was cancelled in the meantime is not changed.
 */
export const recordResult =
  (result: MatchResult, refereeId: string, seed: string): Decide<null> =>
  (state, at) => {
    const { league_id: leagueId, match_id: matchId, epoch } = result;
    const draft = new Draft(state, at);
    const league = state.leagues.get(leagueId);
    const match = league && matchOf(league, matchId);
    if (match?.status === "assigned" && match.epoch === epoch && match.refereeId === refereeId) {
      draft.append(leagueId, [completionEvent(result, refereeId)]);
      draft.write({ type: "session_log", leagueId, matchId, epoch, seed, log: result.log });
    }
    return draft.decision(null);
  };

/** Counts a timeout of a player that did not answer. Every other completed match resets the count; an abort does not change it. */
function countTimeouts(draft: Draft, leagueId: string, players: readonly string[], event: NewLeagueEvent): void {
  if (event.type !== "match_completed") return;
  const { match_id: matchId, epoch, faults } = event;
  for (const playerId of players) {
    if (!draft.state.agents.has(playerId)) continue;
    const isTimeout = hasTimedOut(faults, playerId);
    draft.agent(playerId, { type: isTimeout ? "time_out" : "answer", leagueId, matchId, epoch });
    if (isTimeout) leaveRunningLeagues(draft, playerId);
  }
}
