import { findGame } from "#shared/games/registry.ts";
import { follows } from "#shared/lib/result.ts";
import { POINTS, winningTeams } from "#shared/session/verdict.ts";
import type { MatchSummary, ReleaseReason } from "./events.ts";
import type { League, Match, MatchFault, Outcome } from "./league.ts";

/** The reason of a match that was forfeited because some of its players were shut down. */
export const SHUT_DOWN = "shut_down";
/** The reason of such a match if the operator removed all of these players. */
export const REMOVED = "removed_by_operator";
/** The reason of a match that was not played because the format had ended. */
export const CANCELLED = "cancelled";
/** The reason of a match that was not completed within the time of its round. */
export const EXPIRED = "time_of_the_round_is_over";
/** The reason of a match that the operator annulled. */
export const ANNULLED = "annulled";

/** The reasons of matches that count for no player by a decision of the manager. They are public. */
export const DECIDED_REASONS: readonly string[] = [CANCELLED, EXPIRED, ANNULLED];

const NONE: readonly never[] = [];

/** The player ids of a match by role. */
export const rolesOf = (
  { roles }: Pick<League, "roles">,
  { players }: Pick<Match, "players">,
): Readonly<Record<string, string>> => Object.fromEntries(roles.map((role, seat) => [role, players[seat] as string]));

/** Converts a result with player ids into an outcome by seats. Throws if it is not a possible result of these players. */
export function outcomeOfResult(players: readonly string[], result: MatchSummary): Outcome {
  const { winner, faults, termination, reason } = result;
  const seat = players.indexOf(winner ?? "");
  follows(winner === null || seat >= 0, `the winner ${winner} does not play in the match`);
  const foreignFault = faults.find((fault) => !players.includes(fault.player_id));
  follows(foreignFault === undefined, `a fault names ${foreignFault?.player_id}, who does not play in the match`);
  const points = perSeat(players, result.match_points, "match_points");
  checkPoints(points);
  const scores = perSeat(players, result.final_scores, "final_scores");
  return sharedOutcome({ winner: winner === null ? null : seat, scores, points, termination, reason, faults });
}

/** The id of the winner; null without a single winner. */
export const winnerOf = ({ players, outcome }: Pick<Match, "players" | "outcome">): string | null =>
  players[outcome?.winner ?? -1] ?? null;

/** The result of a completed match by player ids, in the form of messages and events. Throws if the match is not completed. */
export function summaryOf(match: Match): MatchSummary {
  const { players, outcome, logHead } = match;
  follows(outcome && logHead !== null, `${match.matchId} is not completed`);
  const byPlayer = (values: readonly number[]): Record<string, number> =>
    Object.fromEntries(values.map((value, seat) => [players[seat] as string, value]));
  return {
    winner: winnerOf(match),
    final_scores: byPlayer(outcome.scores),
    match_points: byPlayer(outcome.points),
    termination: outcome.termination,
    reason: outcome.reason,
    faults: outcome.faults,
    log_head: logHead,
  };
}

/** The outcome of an aborted match, without points and scores. */
export const abortedOutcome = (reason: string): Outcome =>
  sharedOutcome({ winner: null, scores: NONE, points: NONE, termination: "aborted", reason, faults: NONE });

/** The reason of a match as it may be published. The reason of an aborted match may quote an error with addresses and paths of a referee. */
export const publicReason = ({ termination, reason }: Pick<Outcome, "termination" | "reason">): string =>
  termination === "aborted" && !DECIDED_REASONS.includes(reason) ? "aborted" : reason;

/**
 * Whether a player lost a match because it did not answer. A player that lost on time may have answered, so its loss does not count towards its
 * suspension.
 */
export const hasTimedOut = (faults: readonly MatchFault[], playerId: string): boolean =>
  faults.some(({ player_id, code, cause }) => player_id === playerId && code === "G002" && cause !== "clock");

/** The result of a match that is not played because players are absent: they and their teams lose. */
export function forfeitOf(
  { game, roles }: Pick<League, "game" | "roles">,
  players: readonly string[],
  absent: readonly string[],
  detailOf: (playerId: string) => string,
): Omit<MatchSummary, "termination" | "reason" | "log_head"> {
  const isAbsent = (seat: number): boolean => absent.includes(players[seat] as string);
  const atFault = roles.filter((_, seat) => isAbsent(seat));
  const winners = winningTeams({ roles, teams: findGame(game)?.info.teams }, atFault);
  const winner = winners.length === 1 ? players[roles.indexOf(winners[0] as string)] : undefined;
  const perPlayer = (value: (role: string) => number): Record<string, number> =>
    Object.fromEntries(roles.map((role, seat) => [players[seat] as string, value(role)]));
  return {
    winner: winner ?? null,
    final_scores: perPlayer(() => 0),
    match_points: perPlayer((role) => (winners.includes(role) ? POINTS.win : POINTS.loss)),
    faults: roles.flatMap((role, seat): MatchFault[] => {
      const player_id = players[seat] as string;
      return isAbsent(seat) ? [{ player_id, role, code: "G002", cause: "timeout", detail: detailOf(player_id) }] : [];
    }),
  };
}

/** Converts values by player into a list in the order of the seats; empty for an empty record. Throws if the players differ. */
function perSeat(
  players: readonly string[],
  values: Readonly<Record<string, number>>,
  field: string,
): readonly number[] {
  const playerIds = Object.keys(values);
  if (playerIds.length === 0) return NONE;
  const isComplete = playerIds.length === players.length && players.every((player) => Object.hasOwn(values, player));
  follows(isComplete, `${field} names ${playerIds.join(", ")}, but ${players.join(", ")} play`);
  return players.map((player) => values[player] as number);
}

/** The outcomes without faults that have occurred, by key. Most matches of a large league end with one of a few outcomes. */
const cachedOutcomes = new Map<string, Outcome>();
const MAX_CACHED_OUTCOMES = 10_000;

/** Returns one shared object for equal outcomes without faults, to save memory. */
export function sharedOutcome(outcome: Outcome): Outcome {
  const { winner, scores, points, termination, reason, faults } = outcome;
  if (faults.length > 0) return outcome;
  const key = `${winner}/${scores}/${points}/${termination}/${reason}`;
  const shared = cachedOutcomes.get(key) ?? outcome;
  if (cachedOutcomes.size < MAX_CACHED_OUTCOMES) cachedOutcomes.set(key, shared);
  return shared;
}

/** Throws if a number of points is not that of a win, a draw or a loss. */
function checkPoints(points: readonly number[]): void {
  const isPossible = points.every((value) => value === POINTS.win || value === POINTS.draw || value === POINTS.loss);
  follows(isPossible, `a match gives 3, 1 or 0 points, not ${points.join(", ")}`);
}

/** Why the current attempt at a match began, for everyone: the recorded detail may quote an address. null in the first attempt. */
export function restartReason({ lastRelease }: Pick<Match, "lastRelease">): string | null {
  return lastRelease && `${lastRelease.refereeId} ${RELEASE_TEXTS[lastRelease.reason]}`;
}

const RELEASE_TEXTS: Readonly<Record<ReleaseReason, string>> = {
  unreachable: "did not answer",
  refused: "did not accept the match",
  overdue: "did not complete the match in time",
  aborted: "aborted the match",
};
