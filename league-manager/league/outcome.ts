import { findGame } from "#shared/games/registry.ts";
import { follows } from "#shared/lib/result.ts";
import { POINTS, winningTeams } from "#shared/session/verdict.ts";
import type { MatchSummary } from "./events.ts";
import type { League, Match, MatchFault, Outcome } from "./league.ts";

/** The reason of a match that was forfeited because players of it were shut down. */
export const SHUT_DOWN = "shut_down";
/** The reason of such a match if the operator removed these players. */
export const REMOVED = "removed_by_operator";

const NONE: readonly never[] = [];

/** The roles of a match with their players. */
export const rolesOf = (
  { roles }: Pick<League, "roles">,
  { players }: Pick<Match, "players">,
): Readonly<Record<string, string>> => Object.fromEntries(roles.map((role, seat) => [role, players[seat] as string]));

/** Converts a result to the form that a league keeps. Throws when it is not a result of these players. */
export function outcomeOfResult(players: readonly string[], result: MatchSummary): Outcome {
  const { winner, faults, termination, reason } = result;
  const seat = winner === null ? -1 : players.indexOf(winner);
  follows(winner === null || seat >= 0, `the winner ${winner} does not play in the match`);
  const foreign = faults.find((fault) => !players.includes(fault.player_id));
  follows(foreign === undefined, `a fault names ${foreign?.player_id}, who does not play in the match`);
  const points = perSeat(players, result.match_points, "match_points");
  expectPossible(points);
  const scores = perSeat(players, result.final_scores, "final_scores");
  return sharedOutcome({ winner: winner === null ? null : seat, scores, points, termination, reason, faults });
}

/** The player who won; null when there is none. */
export const winnerOf = ({ players, outcome }: Pick<Match, "players" | "outcome">): string | null =>
  players[outcome?.winner ?? -1] ?? null;

/** A result with player ids as keys, as messages and events have it. */
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

/** An aborted match gives no points and no scores. */
export const abortedOutcome = (reason: string): Outcome =>
  sharedOutcome({ winner: null, scores: NONE, points: NONE, termination: "aborted", reason, faults: NONE });

/** The public reason. The reason of an aborted match may quote an error of a referee with addresses and paths. */
export const publicReason = ({ termination, reason }: Pick<Outcome, "termination" | "reason">): string =>
  termination === "aborted" ? "aborted" : reason;

/** The result of a match that is not played because of absent players: they and their teams lose. */
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

/** Values by player as a list in the order of the seats; an empty record gives an empty list. */
function perSeat(
  players: readonly string[],
  values: Readonly<Record<string, number>>,
  field: string,
): readonly number[] {
  const given = Object.keys(values);
  if (given.length === 0) return NONE;
  const isComplete = given.length === players.length && players.every((player) => Object.hasOwn(values, player));
  follows(isComplete, `${field} names ${given.join(", ")}, but ${players.join(", ")} play`);
  return players.map((player) => values[player] as number);
}

/** The outcomes without faults that have occurred. Most of the hundreds of thousands of matches of a league end with one of a few. */
const knownOutcomes = new Map<string, Outcome>();
const MAX_KNOWN_OUTCOMES = 10_000;

/** An equal outcome, the same object for all matches that have it. */
export function sharedOutcome(outcome: Outcome): Outcome {
  const { winner, scores, points, termination, reason, faults } = outcome;
  if (faults.length > 0) return outcome;
  const key = `${winner}/${scores}/${points}/${termination}/${reason}`;
  const known = knownOutcomes.get(key) ?? outcome;
  if (known === outcome && knownOutcomes.size < MAX_KNOWN_OUTCOMES) knownOutcomes.set(key, outcome);
  return known;
}

function expectPossible(points: readonly number[]): void {
  const isPossible = points.every((one) => one === POINTS.win || one === POINTS.draw || one === POINTS.loss);
  follows(isPossible, `a match gives 3, 1 or 0 points, not ${points.join(", ")}`);
}
