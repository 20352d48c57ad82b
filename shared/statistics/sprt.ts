import { invariant } from "#shared/lib/result.ts";
import { type Counts, gamesEach, momentsOf } from "./counts.ts";
import { MAX_ESTIMATED_GAMES } from "./elo.ts";
import { scoreOfElo } from "./normal.ts";

/**
 * The sequential probability ratio test (SPRT) of two hypotheses about the Elo difference of two players, as in fastchess and OpenBench: a match ends when
 * the log-likelihood ratio of the hypotheses reaches one of two bounds. Looking at the state after each game does not change the error rates.
 *
 * The generalized SPRT compares the most likely distributions of outcomes under each hypothesis. Sources: A. Wald, "Sequential tests of statistical
 * hypotheses" (1945), for the bounds; M. Van den Bergh, "A practical introduction to the GSPRT" and "Comments on normalized Elo", for the ratio.
 */

/** The hypotheses of a test and its error rates. */
export interface SprtOptions {
  /** The Elo difference of the null hypothesis H0, less than `elo1`. */
  readonly elo0: number;
  /** The Elo difference of the alternative hypothesis H1. */
  readonly elo1: number;
  /** The maximum probability that H1 is accepted although H0 is true; between 0 and 0.5. */
  readonly alpha: number;
  /** The maximum probability that H0 is accepted although H1 is true; between 0 and 0.5. */
  readonly beta: number;
  /**
   * The unit of `elo0` and `elo1`. `logistic`: 400 points are odds of 10 to 1. `normalized`: the difference of the score from ½ in standard deviations of
   * one game, times 800/ln 10 (about 347), so that the number of games does not depend on the share of draws.
   */
  readonly model: "logistic" | "normalized";
}

/** The state of a test. H1: the first player is stronger by `elo1` rather than `elo0`; H0: it is not. */
export interface SprtStatus {
  readonly state: "continue" | "H0" | "H1";
  /** The log-likelihood ratio of H1 and H0: natural logarithm, 0 before the first game. */
  readonly llr: number;
  /** H0 is accepted at or below this ratio: ln(β / (1 - α)). */
  readonly lower: number;
  /** H1 is accepted at or above this ratio: ln((1 - β) / α). */
  readonly upper: number;
}

/** The count of an outcome that has not occurred, because the logarithm of 0 is infinite. OpenBench and fastchess use the same number. */
const UNSEEN = 1e-3;

/** Returns the state of the test after these games or pairs of games. */
export function sprtStatus(counts: Counts, options: SprtOptions): SprtStatus {
  const { alpha, beta } = options;
  invariant(options.elo0 < options.elo1, "elo0 of an SPRT is less than elo1");
  invariant(alpha > 0 && beta > 0 && alpha < 0.5 && beta < 0.5, "the error rates of an SPRT are between 0 and 0.5");
  const [lower, upper] = [Math.log(beta / (1 - alpha)), Math.log((1 - beta) / alpha)];
  const steps = stepsOf(counts, options);
  const llr = steps === null ? 0 : steps.size * steps.drift;
  return { state: llr >= upper ? "H1" : llr <= lower ? "H0" : "continue", llr, lower, upper };
}

/** The steps of the log-likelihood ratio, one for each outcome. */
interface Steps {
  readonly size: number;
  readonly drift: number;
  readonly variance: number;
}

/** Returns the number, mean and variance of the steps; null before the first outcome. */
function stepsOf(counts: Counts, { elo0, elo1, model }: SprtOptions): Steps | null {
  if (counts.every((count) => count === 0)) return null;
  const positive = counts.map((count) => Math.max(count, UNSEEN));
  const size = positive.reduce((sum, count) => sum + count, 0);
  const observed = positive.map((count) => count / size);
  const likeliest = (elo: number): Distribution =>
    model === "logistic"
      ? likeliestWithMean(observed, scoreOfElo(elo))
      : likeliestWithT(observed, (elo * Math.LN10 * Math.sqrt(gamesEach(counts))) / 800);
  const [h0, h1] = [likeliest(elo0), likeliest(elo1)];
  const steps = observed.map((_, i) => Math.log((h1[i] ?? 0) / (h0[i] ?? 0)));
  const drift = observed.reduce((sum, p, i) => sum + p * (steps[i] ?? 0), 0);
  const variance = observed.reduce((sum, p, i) => sum + p * ((steps[i] ?? 0) - drift) ** 2, 0);
  return { size, drift, variance };
}

/**
 * Returns about how many more games are needed until the test ends, if the outcomes remain distributed as they are: 0 if it has ended; null before the first
 * game, or if the estimate exceeds a million games. The log-likelihood ratio is taken as a random walk with the observed drift and variance; the formula is
 * the expected time until Brownian motion leaves an interval (Wald's identity). The estimate is rough.
 */
export function gamesUntilDecided(counts: Counts, options: SprtOptions): number | null {
  const { state, llr, lower, upper } = sprtStatus(counts, options);
  if (state !== "continue") return 0;
  const steps = stepsOf(counts, options);
  if (steps === null || steps.variance === 0) return null;
  const games = Math.ceil(expectedSteps(llr - lower, upper - llr, steps)) * gamesEach(counts);
  return games > MAX_ESTIMATED_GAMES ? null : Math.max(games, gamesEach(counts));
}

/** The expected number of steps until a walk leaves an interval whose ends are `below` and `above` away. */
function expectedSteps(below: number, above: number, { drift, variance }: Steps): number {
  const k = (2 * drift) / variance;
  if (Math.abs(k * (below + above)) < 1e-6) return (below * above) / variance;
  // exp() overflows for a strong downward drift; the walk then goes straight to the lower end.
  if (k * (below + above) < -500) return below / -drift;
  const throughUpper = -Math.expm1(-k * below) / -Math.expm1(-k * (below + above));
  return (throughUpper * (below + above) - below) / drift;
}

// Distributions of outcomes that are most likely under a condition, by the method of the generalized sequential probability ratio test.

/** Probabilities of the outcomes, whose scores are equally spaced from 0 to 1. */
type Distribution = readonly number[];

/** The maximum number of rounds of the iteration for a t-value. A few are enough unless an outcome is very rare. */
const MAX_ROUNDS = 50;

/** The largest step of the t-value, because the constraint is linearized. */
const MAX_T_STEP = 0.1;

/** The score of an outcome. */
const scoreAt = (index: number, length: number): number => index / (length - 1);

/**
 * Returns the distribution with the mean `mean` that is most likely, given the observed frequencies `observed`, which are positive and have the sum 1.
 * Source: M. Van den Bergh, "A practical introduction to the GSPRT" (support_MLE_multinomial.pdf), proposition 1.1.
 */
export function likeliestWithMean(observed: Distribution, mean: number): Distribution {
  const distances = observed.map((_, i) => scoreAt(i, observed.length) - mean);
  return reweighted(observed, distances);
}

/**
 * Returns the most likely distribution whose t-value, (mean - 0.5) / standard deviation, is `t`.
 * Source: M. Van den Bergh, "Comments on normalized Elo" (normalized_elo_practical.pdf), section 4.1: the constraint is linearized at the previous
 * distribution, repeatedly. OpenBench and fastchess use the same iteration.
 */
export function likeliestWithT(observed: Distribution, t: number): Distribution {
  const steps = Math.max(1, Math.ceil(Math.abs(t) / MAX_T_STEP));
  let current: Distribution = observed.map(() => 1 / observed.length);
  for (let step = 1; step <= steps; step++) current = iterated(observed, (t * step) / steps, current);
  return current;
}

/** Improves a distribution until its t-value is `t`. */
function iterated(observed: Distribution, t: number, start: Distribution): Distribution {
  let current = start;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { mean, variance } = momentsOf(current);
    const deviation = Math.sqrt(variance);
    const distances = observed.map((_, i) => {
      const score = scoreAt(i, observed.length);
      return score - 0.5 - (t * deviation * (1 + ((mean - score) / deviation) ** 2)) / 2;
    });
    const next = reweighted(observed, distances);
    const change = Math.max(...next.map((p, i) => Math.abs(p - (current[i] ?? 0))));
    current = next;
    if (change < 1e-9) break;
  }
  return current;
}

/**
 * Returns the distribution p with `Σ p·distance = 0` that is most likely: `observed / (1 + x·distance)`, where x is the root of the decreasing function
 * `Σ observed·distance / (1 + x·distance)`. Some distances must be positive and some negative.
 */
function reweighted(observed: Distribution, distances: readonly number[]): Distribution {
  let [low, high] = [-1 / Math.max(...distances), -1 / Math.min(...distances)];
  let x = 0;
  for (let step = 0; step < 200; step++) {
    let [value, slope] = [0, 0];
    for (const [i, distance] of distances.entries()) {
      const ratio = distance / (1 + x * distance);
      value += (observed[i] ?? 0) * ratio;
      slope -= (observed[i] ?? 0) * ratio * ratio;
    }
    if (value > 0) low = x;
    else high = x;
    const newton = x - value / slope;
    // Newton's method, with bisection where it leaves the interval.
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    if (Math.abs(next - x) <= 1e-14 * (1 + Math.abs(x))) break;
    x = next;
  }
  return observed.map((p, i) => p / (1 + x * (distances[i] ?? 0)));
}

/** The log-likelihood ratio of a test and its bounds: `SPRT 1.23 (-2.94, 2.94)`. */
export const sprtText = ({ llr, lower, upper }: Pick<SprtStatus, "llr" | "lower" | "upper">): string =>
  `SPRT ${llr.toFixed(2)} (${lower.toFixed(2)}, ${upper.toFixed(2)})`;

/** The statement of a hypothesis: `Ann is better than Bob`. */
export const hypothesisText = (
  hypothesis: "H0" | "H1",
  options: Pick<SprtOptions, "elo0" | "elo1">,
  first: string,
  second: string,
): string => `${first} ${claimOf(hypothesis, options)} ${second}`;

function claimOf(hypothesis: "H0" | "H1", { elo0, elo1 }: Pick<SprtOptions, "elo0" | "elo1">): string {
  if (hypothesis === "H1") return elo0 >= 0 ? "is better than" : `is not ${-elo0} Elo worse than`;
  return elo1 > 0 ? `is not ${elo1} Elo better than` : "is worse than";
}
