/** Distributions of outcomes that are most likely under a condition, by the method of the generalized sequential probability ratio test. */

import { momentsOf } from "./counts.ts";

/** Probabilities of the outcomes, whose scores are equally spaced from 0 to 1. */
export type Distribution = readonly number[];

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
