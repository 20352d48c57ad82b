/** The standard normal distribution, and the scale of Elo ratings. */

/** The 97.5% quantile of the standard normal distribution: the half-width of a 95% interval in standard deviations. */
export const Z_95 = 1.959963984540054;

/** Coefficients of the complementary error function: Numerical Recipes, 3rd edition, section 6.2.2. */
const ERFC = [
  -1.3026537197817094, 6.419697923564902e-1, 1.9476473204185836e-2, -9.561514786808631e-3, -9.46595344482036e-4,
  3.66839497852761e-4, 4.2523324806907e-5, -2.0278578112534e-5, -1.624290004647e-6, 1.30365583558e-6, 1.5626441722e-8,
  -8.5238095915e-8, 6.529054439e-9, 5.059343495e-9, -9.91364156e-10, -2.27365122e-10, 9.6467911e-11, 2.394038e-12,
  -6.886027e-12, 8.94487e-13, 3.13092e-13, -1.12708e-13, 3.81e-16, 7.106e-15,
] as const;

/** Returns erfc(x) for x >= 0. */
function erfcOfPositive(x: number): number {
  const t = 2 / (2 + x);
  const y = 4 * t - 2;
  let [previous, current] = [0, 0];
  for (let i = ERFC.length - 1; i > 0; i--) [previous, current] = [current, y * current - previous + (ERFC[i] ?? 0)];
  return t * Math.exp(-x * x + 0.5 * (ERFC[0] + y * current) - previous);
}

/** Returns the probability that a standard normal variable is less than z. The absolute error is below 1e-12. */
export function normalCdf(z: number): number {
  if (z === 0) return 0.5;
  const tail = erfcOfPositive(Math.abs(z) / Math.SQRT2) / 2;
  return z < 0 ? tail : 1 - tail;
}

/** The Elo points of one unit of the natural logarithm of the odds: 400 points are odds of 10 to 1. */
export const ELO_PER_LOGIT = 400 / Math.LN10;

/** Returns the expected score, from 0 to 1, of a player that is `elo` points stronger than its opponent. */
export const scoreOfElo = (elo: number): number => 1 / (1 + 10 ** (-elo / 400));

/** Returns the Elo difference that gives this expected score. Null for scores of 0 and 1, for which it is infinite. */
export function eloOfScore(score: number): number | null {
  return score <= 0 || score >= 1 ? null : ELO_PER_LOGIT * Math.log(score / (1 - score));
}
