/**
 * The strength of one player against another, from the outcomes of their games: points in percent, Elo difference, likelihood of superiority.
 *
 * All figures derive from the mean score and its variance, as in fastchess and OpenBench. Those tools use the normal approximation at the observed score (Wald),
 * which has no width after a score of 0% or 100%. This module uses the score interval of E. B. Wilson (Probable inference, the law of succession, and
 * statistical inference, JASA 22, 1927), extended to draws and pairs: under the hypothesis of a mean score s, the variance of an outcome is s(1 - s) - c, where
 * c is the mean of x(1 - x) over the outcomes x. For games without draws, c is 0 and the interval is Wilson's. c is estimated with z² further outcomes
 * without a draw, so that a few draws do not suggest certainty. For many games the figures approach those of the other tools.
 *
 * The score is moved towards 50% by a quarter of a point (a continuity correction), so that four wins in four games are not yet significant.
 */

import { type Counts, gamesEach, momentsOf } from "./counts.ts";
import { eloOfScore, normalCdf, Z_95 } from "./normal.ts";

/** A value with its 95% interval. */
export interface Interval {
  readonly lower: number;
  readonly value: number;
  readonly upper: number;
  /** Half of the width of the interval: the number after "±". */
  readonly error: number;
}

/** A value with its 95% interval. Null stands for infinity, in the direction of the score. */
export type OpenInterval = { readonly [K in keyof Interval]: number | null };

/** The strength of one player against another. Without games: 50% with the interval from 0% to 100%. */
export interface Strength {
  /** The number of games, from 0. */
  readonly games: number;
  /** The share of the points (a win is 1, a draw ½), from 0 to 100. */
  readonly percent: Interval;
  /** The Elo difference. After a score of 0% or 100%, `value`, one bound and `error` are null, and the other bound is a number. */
  readonly elo: OpenInterval;
  /** The probability, from 0 to 1, that the first player is stronger. */
  readonly superiority: number;
  /** Whether the 95% interval excludes 50%, so that one player is better. */
  readonly isSignificant: boolean;
}

/** Returns the strength of the first player. */
export function strengthOf(counts: Counts): Strength {
  const { size, mean, variance } = momentsOf(counts);
  const games = size * gamesEach(counts);
  const superiority = normalCdf(standardScore(counts));
  const correction = games === 0 ? 0.5 : 1 / (4 * games);
  const bound = (side: -1 | 1): number => {
    const shifted = Math.min(1, Math.max(0, mean + side * correction));
    // n·v at the shifted mean; x(1 - x) summed over the outcomes is n·mean(1 - mean) - n·variance.
    const spread = Math.max(0, size * (shifted * (1 - shifted) - mean * (1 - mean) + variance));
    const half = (Z_95 * Math.sqrt(Z_95 ** 2 + 4 * spread)) / (2 * (size + Z_95 ** 2));
    const limit = (size * shifted + Z_95 ** 2 / 2) / (size + Z_95 ** 2) + side * half;
    return shifted === (side + 1) / 2 ? shifted : Math.min(1, Math.max(0, limit));
  };
  const [lower, upper] = [bound(-1), bound(1)];
  return {
    games,
    percent: { lower: 100 * lower, value: 100 * mean, upper: 100 * upper, error: 50 * (upper - lower) },
    elo: eloInterval(lower, mean, upper),
    superiority,
    isSignificant: lower > 0.5 || upper < 0.5,
  };
}

function eloInterval(low: number, mean: number, high: number): OpenInterval {
  const [lower, value, upper] = [eloOfScore(low), eloOfScore(mean), eloOfScore(high)];
  return { lower, value, upper, error: lower === null || upper === null ? null : (upper - lower) / 2 };
}

/**
 * Returns the distance of the mean score from 50% in standard deviations of the mean under the hypothesis of equal strength. It is 0 if the distance is less
 * than the continuity correction.
 */
function standardScore(counts: Counts): number {
  const { size, mean, variance } = momentsOf(counts);
  if (size === 0) return 0;
  const distance = Math.max(0, Math.abs(mean - 0.5) - 1 / (4 * size * gamesEach(counts)));
  return (Math.sign(mean - 0.5) * distance * Math.sqrt(size)) / Math.sqrt(nullVariance(size, mean, variance));
}

/** The variance of one outcome if the players are equally strong, estimated as described at the head of this file. It is positive. */
function nullVariance(size: number, mean: number, variance: number): number {
  return 0.25 - (size * (mean * (1 - mean) - variance)) / (size + Z_95 ** 2);
}

/** The largest estimate of the games that are needed for a decision. A larger estimate would say more than the games support. */
export const MAX_ESTIMATED_GAMES = 1_000_000;

/**
 * Returns about how many more games are needed until the 95% interval excludes 50%, if the score and the share of draws remain as they are. 0 if it does
 * already; null if there is no estimate: there are no games, or the score is so close to 50% that more than a million games would be needed.
 * The estimate is rough: the observed score is itself uncertain.
 */
export function gamesUntilSignificant(counts: Counts): number | null {
  const { size, mean, variance } = momentsOf(counts);
  const each = gamesEach(counts);
  const games = size * each;
  if (strengthOf(counts).isSignificant) return 0;
  if (size === 0 || mean === 0.5) return null;
  const needed = (Z_95 ** 2 * nullVariance(size, mean, variance)) / (mean - 0.5) ** 2;
  // The continuity correction of a quarter of a point delays the decision.
  const total = needed * each + 1 / (2 * Math.abs(mean - 0.5));
  const more = each * Math.max(1, Math.ceil((total - games) / each));
  return more > MAX_ESTIMATED_GAMES ? null : more;
}

/** Rounds an estimated number of games up to two significant digits. */
export function roundedGames(games: number): number {
  const unit = games < 100 ? 1 : 10 ** (Math.floor(Math.log10(games)) - 1);
  return Math.ceil(games / unit) * unit;
}
