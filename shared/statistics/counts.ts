import { invariant } from "#shared/lib/result.ts";

/**
 * How often each outcome occurred, from the worst to the best for the first player. The scores of the outcomes are equally spaced from 0 to 1.
 * - 3 numbers count single games (trinomial): losses, draws, wins.
 * - 5 numbers count pairs of games (pentanomial) with the same opening and exchanged roles: pairs with 0, ½, 1, 1½ and 2 points.
 */
export type Counts =
  | readonly [losses: number, draws: number, wins: number]
  | readonly [zero: number, half: number, one: number, oneAndHalf: number, two: number];

/** The counts of single games. */
export const countsOfGames = (games: {
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
}): Counts => [games.losses, games.draws, games.wins];

/** The number of games in each counted outcome: 1, or 2 for pairs. */
export const gamesEach = (counts: Counts): number => (counts.length - 1) / 2;

/** The sums over all counted outcomes. */
interface Moments {
  /** The number of outcomes: games, or pairs of games. */
  readonly size: number;
  /** The mean score, from 0 to 1; 0.5 without outcomes. */
  readonly mean: number;
  /** The empirical variance of the score of one outcome. */
  readonly variance: number;
}

/** Returns mean and variance of the outcomes. The counts may be fractions. */
export function momentsOf(counts: readonly number[]): Moments {
  invariant(
    counts.every((count) => count >= 0 && Number.isFinite(count)),
    "a count of outcomes is a finite number of at least 0",
  );
  const best = counts.length - 1;
  const size = counts.reduce((sum, count) => sum + count, 0);
  if (size === 0) return { size: 0, mean: 0.5, variance: 0 };
  const mean = counts.reduce((sum, count, i) => sum + count * (i / best), 0) / size;
  const variance = counts.reduce((sum, count, i) => sum + count * (i / best - mean) ** 2, 0) / size;
  return { size, mean, variance };
}

/** A match of two players. */
interface PlayedMatch {
  /** Player ids in the order of the roles. */
  readonly players: readonly string[];
  /** Null until the match is completed. `points` has 3, 1 or 0 by seat, and is empty for a match that is aborted or annulled. */
  readonly outcome: { readonly points: readonly number[] } | null;
}

/** The counts of a player: how often it has 0, ½, 1, 1½ and 2 points in a pair of matches with swapped roles. */
interface PairTally {
  readonly player: string;
  readonly pairs: number[];
}

/**
 * Adds the pairs of matches of a round to the tally of each pair: two matches of the same players with swapped roles, which follow each other. A pair
 * counts when both matches are completed. A pair with an aborted match or a double forfeit does not count.
 */
export function countPairs<M extends PlayedMatch>(
  matches: readonly M[],
  tallyOf: (match: M) => PairTally | undefined,
): void {
  for (let index = 0; index + 1 < matches.length; index += 2) {
    const [one, other] = [matches[index] as M, matches[index + 1] as M];
    if (one.players[0] !== other.players[1] || one.players[1] !== other.players[0]) continue;
    const tally = tallyOf(one);
    if (!tally) continue;
    const [first, second] = [halfPoints(one, tally.player), halfPoints(other, tally.player)];
    if (first === null || second === null) continue;
    tally.pairs[first + second] = (tally.pairs[first + second] ?? 0) + 1;
  }
}

/** The points of a player in half points; null for a match that is open, aborted, annulled or forfeited by both players. */
function halfPoints({ players, outcome }: PlayedMatch, playerId: string): number | null {
  if (outcome === null || !outcome.points.some((points) => points > 0)) return null;
  const points = outcome.points[players.indexOf(playerId)];
  return points === 3 ? 2 : points === 1 ? 1 : 0;
}
