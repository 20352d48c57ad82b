/**
 * The sequential probability ratio test (SPRT) of two hypotheses about the Elo difference of two players, as in fastchess and OpenBench: a match ends when
 * the log-likelihood ratio of the hypotheses reaches one of two bounds. Looking at the state after each game does not change the error rates.
 *
 * The generalized SPRT compares the most likely distributions of outcomes under each hypothesis. Sources: A. Wald, "Sequential tests of statistical
 * hypotheses" (1945), for the bounds; M. Van den Bergh, "A practical introduction to the GSPRT" and "Comments on normalized Elo", for the ratio.
 */

import { invariant } from "#shared/lib/result.ts";
import { type Counts, gamesEach } from "./counts.ts";
import { MAX_ESTIMATED_GAMES } from "./elo.ts";
import { type Distribution, likeliestWithMean, likeliestWithT } from "./likelihood.ts";
import { scoreOfElo } from "./normal.ts";

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
