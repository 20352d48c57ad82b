import { matchRef } from "#shared/lib/ids.ts";
import { err } from "#shared/lib/result.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { completionEvent, decideReport, noLeague } from "../league/decide.ts";
import { matchOf } from "../league/evolve.ts";
import { currentMatches, type LeagueCommand, type Match, type NewLeagueEvent } from "../league/league.ts";
import { hasTimedOut } from "../league/outcome.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { leaveRunningLeagues } from "./agent-commands.ts";
import { Draft } from "./draft.ts";

type CommandFields<T extends LeagueCommand["type"]> = { readonly leagueId: string } & Omit<
  Extract<LeagueCommand, { type: T }>,
  "type"
>;
export type Assignment = CommandFields<"assign">;
type Release = CommandFields<"release">;
type SettledWithdrawal = CommandFields<"settle_withdrawal">;

/**
 * Assigns a match to a referee. Rejects an unregistered referee with L004. Rejects a referee that has its maximum number of matches over all leagues,
 * and a player of another dialect that has another match, with G005, which is retryable.
 */
export const assignMatch =
  ({ leagueId, ...command }: Assignment): Decide<null> =>
  (state, at) => {
    const { refereeId, matchId } = command;
    const referee = state.agents.get(refereeId);
    if (referee?.kind !== "referee") {
      return err(protocolError("L004", `no referee ${refereeId} is registered`, { referee_id: refereeId }));
    }
    if (occupiedIn(state, refereeId) >= referee.maxConcurrent) {
      const message = `referee ${refereeId} has no free capacity for ${matchRef(leagueId, matchId)}`;
      return err(protocolError("G005", message, { referee_id: refereeId, match_id: matchId }, true));
    }
    const occupied = occupiedForeignPlayer(state, leagueId, matchId);
    if (occupied !== undefined) {
      const message = `player ${occupied} has another match than ${matchRef(leagueId, matchId)}`;
      return err(protocolError("G005", message, { player_id: occupied, match_id: matchId }, true));
    }
    const draft = new Draft(state, at);
    const assigned = draft.league(leagueId, { type: "assign", ...command });
    return assigned.ok ? draft.decision(null) : assigned;
  };

/** Takes a match from its referee. */
export const releaseMatch =
  ({ leagueId, ...command }: Release): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const released = draft.league(leagueId, { type: "release", ...command });
    return released.ok ? draft.decision(null) : released;
  };

/**
 * Takes matches from their referees in one append. A match that is already released or completed is not changed. The withdrawal from a referee that
 * is no longer registered is settled, because no message can reach it.
 */
export const releaseMatches =
  (releases: readonly Release[]): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    for (const { leagueId, ...command } of releases) {
      const { matchId, epoch } = command;
      const league = state.leagues.get(leagueId);
      const refereeId = (league && matchOf(league, matchId)?.refereeId) ?? null;
      const released = draft.league(leagueId, { type: "release", ...command });
      if (!released.ok || refereeId === null || state.agents.has(refereeId)) continue;
      draft.mustLeague(leagueId, { type: "settle_withdrawal", matchId, epoch, refereeId });
    }
    return draft.decision(null);
  };

/** Records that a referee has acknowledged the withdrawal of a match. */
export const settleWithdrawal =
  ({ leagueId, ...command }: SettledWithdrawal): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const settled = draft.league(leagueId, { type: "settle_withdrawal", ...command });
    return settled.ok ? draft.decision(null) : settled;
  };

/** A player of a scheduled match that speaks another dialect and has an assigned match. */
function occupiedForeignPlayer(state: ManagerState, leagueId: string, matchId: string): string | undefined {
  const league = state.leagues.get(leagueId);
  const match = league && matchOf(league, matchId);
  const foreign = match?.status === "scheduled" ? foreignPlayers(state, match) : [];
  if (foreign.length === 0) return undefined;
  const occupied = occupiedPlayers(state);
  return foreign.find((id) => occupied.has(id));
}

/** The number of matches of all leagues that occupy a referee. */
function occupiedIn({ leagues }: ManagerState, refereeId: string): number {
  let count = 0;
  for (const { occupied } of leagues.values()) count += occupied.get(refereeId) ?? 0;
  return count;
}

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

/** The players of a match that speak another dialect. Each of them has one match at a time, also in several leagues. */
export const foreignPlayers = ({ agents }: Pick<ManagerState, "agents">, { players }: Match): readonly string[] =>
  players.filter((id) => (agents.get(id)?.dialect ?? NATIVE) !== NATIVE);

/** The players that have an assigned match in any league. */
export function occupiedPlayers({ leagues }: Pick<ManagerState, "leagues">): Set<string> {
  const occupied = new Set<string>();
  for (const league of leagues.values()) {
    for (const { status, players } of currentMatches(league)) {
      if (status === "assigned") for (const id of players) occupied.add(id);
    }
  }
  return occupied;
}
