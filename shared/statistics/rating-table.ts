/** The table of ratings of a set of matches, as tools, resources, files and terminals show it. */

import { invariant } from "#shared/lib/result.ts";
import { type PairResult, type Ratings, rateByBradleyTerry } from "./bradley-terry.ts";
import type { rateTeams, TeamResult } from "./team-ratings.ts";

/** A match that can be rated. */
export interface RatedMatch {
  /** The players in the order of the game's roles. */
  readonly players: readonly string[];
  /** The points by seat; empty for a match that does not count. */
  readonly points: readonly number[];
}

/** The row of a player. Ratings are rounded to a tenth, so that they are equal on all machines. */
interface RatingRow {
  readonly player: string;
  readonly rating: number;
  /** Half of the width of the 95% interval of the rating. */
  readonly error: number;
  /** The number of rated matches. */
  readonly matches: number;
  /** The share of the points in percent, a draw as half a win; null without matches. */
  readonly percent: number | null;
}

/** The comparison of two players. */
interface RatingComparison {
  /** The player with the higher rating. */
  readonly player: string;
  readonly other: string;
  readonly difference: number;
  readonly error: number;
  /** The probability, from 0.5 to 1, that the player is stronger than the other. */
  readonly likelihood: number;
  /** Whether the 95% interval of the difference excludes 0. If not, the order of the two is not significant yet. */
  readonly isSignificant: boolean;
}

export interface RatingTable {
  /** `bradley-terry` for games of two players, else `openskill`. */
  readonly model: "bradley-terry" | "openskill";
  /** The number of rated matches. Aborted matches, and matches that all players lost by forfeit, do not count. */
  readonly matches: number;
  /** The strongest player first; of equal ratings, the player whose id is first in alphabetical order. */
  readonly rows: readonly RatingRow[];
  /** Every pair of players, or with more than `MAX_COMPARED` players each player and the next one in the table. */
  readonly comparisons: readonly RatingComparison[];
}

/** The maximum number of players of which every pair is compared. */
export const MAX_COMPARED = 20;

/**
 * Returns the ratings of these players. `teams` has the seats of each team; without it each seat is a team. Results of two seats are summed up, so their
 * order does not matter. With larger teams or more of them, the ratings depend on the order of the matches. The function is asynchronous, because the
 * library for teams is loaded only if it is needed: loading it takes 0.1 s.
 */
export async function ratingTable(
  players: readonly string[],
  matches: readonly RatedMatch[],
  teams?: readonly (readonly number[])[],
): Promise<RatingTable> {
  const isForPairs = teams === undefined && matches.every((match) => match.players.length === 2);
  const rate = isForPairs ? null : (await import("./team-ratings.ts")).rateTeams;
  return ratingTableWith(rate, players, matches, teams);
}

/** Returns the same as `ratingTable`. `rate` is `rateTeams`; null if all matches are of two seats without teams. */
export function ratingTableWith(
  rate: typeof rateTeams | null,
  players: readonly string[],
  matches: readonly RatedMatch[],
  teams?: readonly (readonly number[])[],
): RatingTable {
  const counted = matches.filter(({ points }) => points.some((one) => one > 0));
  const isForPairs = teams === undefined && counted.every((match) => match.players.length === 2);
  invariant(isForPairs || rate !== null, "games of teams need the function that rates teams");
  const rated =
    isForPairs || rate === null
      ? rateByBradleyTerry(players, pairResults(counted))
      : rate(
          players,
          counted.map((match) => teamResult(match, teams)),
        );
  const rows = rated.ratings
    .map(
      ({ player, rating, error, games, points }): RatingRow => ({
        player,
        rating: rounded(rating, 10),
        error: rounded(error, 10),
        matches: games,
        percent: games === 0 ? null : rounded((100 * points) / games, 10),
      }),
    )
    .sort((a, b) => b.rating - a.rating || (a.player < b.player ? -1 : 1));
  return {
    model: isForPairs ? "bradley-terry" : "openskill",
    matches: counted.length,
    rows,
    comparisons: comparisons(rows, rated),
  };
}

const rounded = (value: number, unit: number): number => Math.round(value * unit) / unit;

function comparisons(rows: readonly RatingRow[], { compare }: Ratings): readonly RatingComparison[] {
  const reach = rows.length > MAX_COMPARED ? 1 : rows.length;
  return rows.flatMap(({ player }, i) =>
    rows.slice(i + 1, i + 1 + reach).map(({ player: other }): RatingComparison => {
      const { difference, error, superiority, isSignificant } = compare(player, other);
      return {
        player,
        other,
        difference: rounded(difference, 10),
        error: rounded(error, 10),
        likelihood: rounded(superiority, 10_000),
        isSignificant,
      };
    }),
  );
}

/** Sums up the matches of each pair of players. */
function pairResults(matches: readonly RatedMatch[]): readonly PairResult[] {
  const sums = new Map<string, Map<string, { wins: number; draws: number; losses: number }>>();
  for (const { players, points } of matches) {
    const [one = "", other = ""] = players;
    const [ownPoints = 0, otherPoints = 0] = points;
    const isInOrder = one < other;
    const [first, second] = isInOrder ? [one, other] : [other, one];
    const [of, against] = isInOrder ? [ownPoints, otherPoints] : [otherPoints, ownPoints];
    const row = sums.get(first) ?? new Map<string, { wins: number; draws: number; losses: number }>();
    const sum = row.get(second) ?? { wins: 0, draws: 0, losses: 0 };
    if (of > against) sum.wins++;
    else if (of < against) sum.losses++;
    else sum.draws++;
    sums.set(first, row.set(second, sum));
  }
  return [...sums].flatMap(([first, row]) => [...row].map(([second, sum]) => ({ first, second, ...sum })));
}

function teamResult({ players, points }: RatedMatch, teams: readonly (readonly number[])[] | undefined): TeamResult {
  const seats = teams ?? players.map((_, seat) => [seat]);
  return {
    teams: seats.map((team) => team.map((seat) => players[seat] ?? "")),
    points: seats.map((team) => Math.max(...team.map((seat) => points[seat] ?? 0))),
  };
}
