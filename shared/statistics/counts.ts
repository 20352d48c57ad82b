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
