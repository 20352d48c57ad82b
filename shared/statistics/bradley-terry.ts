import { invariant } from "#shared/lib/result.ts";
import { ELO_PER_LOGIT, normalCdf, Z_95 } from "./normal.ts";

/**
 * Ratings of several players from the results of their games: the Bradley-Terry model, in which the expected score of a player is
 * 1 / (1 + 10^(-difference / 400)), with a normal prior for the ratings (maximum a posteriori). A draw counts as half a win.
 *
 * Sources: R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs" (Biometrika 39, 1952), for the model; D. R. Hunter, "MM algorithms for
 * generalized Bradley-Terry models" (2004), for its likelihood. The prior keeps ratings finite after wins only, and makes ratings of players
 * without common opponents comparable, with wide intervals.
 *
 * The intervals come from the mean square of the errors, for results with draws and for players whose strengths differ more or less than those of the prior:
 * the "sandwich" of H. White, "Maximum likelihood estimation of misspecified models" (Econometrica 50, 1982).
 */

/** The sum of the games of two different players, from the view of the first. */
export interface PairResult {
  readonly first: string;
  readonly second: string;
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
}

/** A rating on the Elo scale, relative to the average of the rated players, which is `AVERAGE_RATING`. */
export interface Rating {
  readonly player: string;
  readonly rating: number;
  /** Half of the width of the 95% interval of the rating. */
  readonly error: number;
  readonly games: number;
  /** Points from games: a win is 1, a draw ½. */
  readonly points: number;
}

/** The comparison of two players by their ratings. */
export interface Comparison {
  /** The rating of the first player minus that of the second. */
  readonly difference: number;
  /** Half of the width of the 95% interval of the difference. */
  readonly error: number;
  /** The probability, from 0 to 1, that the first player is stronger. */
  readonly superiority: number;
  /** Whether the 95% interval of the difference excludes 0. */
  readonly isSignificant: boolean;
}

/** The ratings of a set of players. */
export interface Ratings {
  /** In the order of the arguments. */
  readonly ratings: readonly Rating[];
  /** Compares two rated players. The players are not independent, so their two intervals do not determine this comparison. */
  compare(first: string, second: string): Comparison;
}

/** The average of the rated players. */
export const AVERAGE_RATING = 1500;

/**
 * The standard deviation of the prior of each rating, in Elo points. With 500, the intervals cover 95% for small leagues of similar players and of very
 * different ones (`coverage.test.ts`).
 */
const PRIOR_DEVIATION = 500;

/** Rates players by the results of their games. Players without games get the average rating with the interval of the prior. */
export function rateByBradleyTerry(players: readonly string[], results: readonly PairResult[]): Ratings {
  const n = players.length;
  const indexOf = new Map(players.map((player, i) => [player, i]));
  const at = (player: string): number => {
    const index = indexOf.get(player);
    invariant(index !== undefined, `the results name only rated players, not ${player}`);
    return index;
  };
  const edges = results
    .map(({ first, second, wins, draws, losses }) => {
      invariant(first !== second, "a player does not play against itself");
      return { i: at(first), j: at(second), games: wins + draws + losses, points: wins + draws / 2, draws };
    })
    .filter(({ games }) => games > 0);
  const strengths = maximum(n, edges);
  const covariance = covarianceOf(n, edges, strengths);
  const sums = totals(n, edges);
  return {
    ratings: players.map((player, i) => ({
      player,
      rating: AVERAGE_RATING + ELO_PER_LOGIT * (strengths[i] ?? 0),
      error: Z_95 * ELO_PER_LOGIT * Math.sqrt(covariance(i, i)),
      ...(sums[i] ?? { games: 0, points: 0 }),
    })),
    compare(first, second) {
      const [i, j] = [at(first), at(second)];
      invariant(i !== j, "two different players are compared");
      const difference = ELO_PER_LOGIT * ((strengths[i] ?? 0) - (strengths[j] ?? 0));
      const deviation = ELO_PER_LOGIT * Math.sqrt(covariance(i, i) + covariance(j, j) - 2 * covariance(i, j));
      return {
        difference,
        error: Z_95 * deviation,
        superiority: normalCdf(difference / deviation),
        isSignificant: Math.abs(difference) > Z_95 * deviation,
      };
    },
  };
}

/** The games of the players with the indexes i and j; points and draws from the view of i. */
interface Edge {
  readonly i: number;
  readonly j: number;
  readonly games: number;
  readonly points: number;
  readonly draws: number;
}

/** Newton's method needs about six rounds, and more after many wins without a loss. */
const MAX_ROUNDS = 100;

/** The iteration ends when no strength changes by more than this (2·10⁻⁵ Elo points). The error after the step is far smaller. */
const TOLERANCE = 1e-7;

const PRIOR_PRECISION = (ELO_PER_LOGIT / PRIOR_DEVIATION) ** 2;

/** The expected score of the first player of an edge, from strengths in units of the natural logarithm of the odds. */
const expected = ({ i, j }: Edge, strengths: Float64Array): number =>
  1 / (1 + Math.exp((strengths[j] ?? 0) - (strengths[i] ?? 0)));

/** Returns the games and points of each player. */
function totals(n: number, edges: readonly Edge[]): readonly { games: number; points: number }[] {
  const [games, points] = [new Float64Array(n), new Float64Array(n)];
  const add = (player: number, played: number, won: number): void => {
    games[player] = (games[player] ?? 0) + played;
    points[player] = (points[player] ?? 0) + won;
  };
  for (const edge of edges) {
    add(edge.i, edge.games, edge.points);
    add(edge.j, edge.games, edge.games - edge.points);
  }
  return Array.from(games, (played, i) => ({ games: played, points: points[i] ?? 0 }));
}

/** Returns the most likely strengths, by Newton's method with a limited step. The logarithm of the posterior is concave, so there is one maximum. */
function maximum(n: number, edges: readonly Edge[]): Float64Array {
  const strengths = new Float64Array(n);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const gradient = strengths.map((strength) => -PRIOR_PRECISION * strength);
    for (const edge of edges) {
      const surplus = edge.points - edge.games * expected(edge, strengths);
      gradient[edge.i] = (gradient[edge.i] ?? 0) + surplus;
      gradient[edge.j] = (gradient[edge.j] ?? 0) - surplus;
    }
    const weights = Float64Array.from(edges, (edge) => weightOf(edge, strengths));
    const step = solved(multiplier(edges, weights, PRIOR_PRECISION), gradient);
    const largest = step.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
    const scale = Math.min(1, 2 / largest);
    for (let i = 0; i < n; i++) strengths[i] = (strengths[i] ?? 0) + scale * (step[i] ?? 0);
    if (largest < TOLERANCE) break;
  }
  return strengths;
}

/** The second derivative of the negative logarithm of the likelihood of one edge. */
function weightOf(edge: Edge, strengths: Float64Array): number {
  const score = expected(edge, strengths);
  return edge.games * score * (1 - score);
}

/**
 * Returns the function that multiplies a vector with the symmetric matrix of these weights: the weight of an edge is in the diagonal of both players, and
 * negative where they meet. `diagonal` is added to each element of the diagonal.
 */
function multiplier(edges: readonly Edge[], weights: Float64Array, diagonal: number) {
  return (v: Float64Array): Float64Array => {
    const product = v.map((one) => diagonal * one);
    for (const [e, { i, j }] of edges.entries()) {
      const flow = (weights[e] ?? 0) * ((v[i] ?? 0) - (v[j] ?? 0));
      product[i] = (product[i] ?? 0) + flow;
      product[j] = (product[j] ?? 0) - flow;
    }
    return product;
  };
}

/** Returns the matrix of the second derivatives of the negative logarithm of the posterior. */
function precision(n: number, edges: readonly Edge[], strengths: Float64Array): Float64Array {
  const matrix = new Float64Array(n * n);
  const add = (row: number, column: number, value: number): void => {
    matrix[row * n + column] = (matrix[row * n + column] ?? 0) + value;
  };
  for (let i = 0; i < n; i++) add(i, i, PRIOR_PRECISION);
  for (const edge of edges) {
    const weight = weightOf(edge, strengths);
    add(edge.i, edge.i, weight);
    add(edge.j, edge.j, weight);
    add(edge.i, edge.j, -weight);
    add(edge.j, edge.i, -weight);
  }
  return matrix;
}

/**
 * Returns the variance of the points of the first player of an edge: games · (p · (1 - p) - d / 4) for the expected score p and the share d of draws. The
 * share is estimated with further games without a draw, so that a few draws do not suggest certainty: z² of them in all `games`.
 */
function varianceOf(edge: Edge, strengths: Float64Array, games: number): number {
  const draws = (edge.draws * games) / (games + Z_95 ** 2);
  return Math.max(0, weightOf(edge, strengths) - draws / 4);
}

/**
 * Returns the covariances of the errors of the strengths relative to their average. With W the second derivatives of the likelihood, P the precision of the
 * prior and A = (W + P)⁻¹, an error is A·(noise of the points) - A·P·(strength). With V the covariance of the noise and S the variance of the strengths,
 * the covariance is A·(V + P²·S)·A. It is A for results without draws and S = 1/P.
 */
function covarianceOf(n: number, edges: readonly Edge[], strengths: Float64Array): (i: number, j: number) => number {
  const inverse = inverseOf(precision(n, edges, strengths), n);
  const rows = Array.from({ length: n }, (_, i) => inverse.subarray(i * n, (i + 1) * n));
  const games = edges.reduce((sum, edge) => sum + edge.games, 0);
  const variances = Float64Array.from(edges, (edge) => varianceOf(edge, strengths, games));
  // The strengths vary as their estimates, plus what is not known of them, and not more than in the prior.
  const spread = strengths.reduce((sum, strength, i) => sum + strength ** 2 + (rows[i]?.[i] ?? 0), 0) / n;
  const ofPrior = Math.min(1, PRIOR_PRECISION * spread);
  const multiplied = multiplier(edges, variances, PRIOR_PRECISION * ofPrior);
  const products = rows.map((row) => multiplied(row));
  // The error of the average comes from the prior alone, and is independent of the differences.
  const ofAverage = ofPrior / (n * PRIOR_PRECISION);
  return (i, j) => {
    const relative = dot(rows[i] as Float64Array, products[j] as Float64Array) - ofAverage;
    // Rounding must not make a variance negative.
    return i === j ? Math.max(0, relative) : relative;
  };
}

// Symmetric positive definite matrices of n rows, stored row after row.

/** Returns the inverse of A, which is symmetric and positive definite: the transpose of the inverse of L times this inverse, where L·Lᵀ = A. */
function inverseOf(a: Float64Array, n: number): Float64Array {
  const root = inverseOfTriangle(cholesky(a, n), n);
  const inverse = new Float64Array(n * n);
  for (let k = 0; k < n; k++) {
    const rowK = k * n;
    for (let i = 0; i <= k; i++) {
      const factor = root[rowK + i] as number;
      for (let j = 0; j <= i; j++) {
        inverse[i * n + j] = (inverse[i * n + j] as number) + factor * (root[rowK + j] as number);
      }
    }
  }
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) inverse[j * n + i] = inverse[i * n + j] as number;
  }
  return inverse;
}

/** Returns the lower triangular matrix L with L·Lᵀ = A (Cholesky decomposition). A is symmetric and positive definite. */
function cholesky(a: Float64Array, n: number): Float64Array {
  const l = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const [rowI, rowJ] = [i * n, j * n];
      let sum = a[rowI + j] as number;
      for (let k = 0; k < j; k++) sum -= (l[rowI + k] as number) * (l[rowJ + k] as number);
      l[rowI + j] = i === j ? Math.sqrt(sum) : sum / (l[rowJ + j] as number);
    }
  }
  return l;
}

/**
 * Returns x with A·x = b, by the method of conjugate gradients (M. R. Hestenes and E. Stiefel, 1952). `multiplied` returns A·v for the symmetric and
 * positive definite matrix A, which is not stored.
 */
function solved(multiplied: (v: Float64Array) => Float64Array, b: Float64Array): Float64Array {
  const x = new Float64Array(b.length);
  const residual = Float64Array.from(b);
  const direction = Float64Array.from(b);
  let square = dot(residual, residual);
  const enough = 1e-24 * square;
  for (let round = 0; round < 2 * b.length + 10 && square > enough; round++) {
    const product = multiplied(direction);
    const length = square / dot(direction, product);
    for (let i = 0; i < x.length; i++) {
      x[i] = (x[i] as number) + length * (direction[i] as number);
      residual[i] = (residual[i] as number) - length * (product[i] as number);
    }
    const next = dot(residual, residual);
    for (let i = 0; i < x.length; i++) {
      direction[i] = (residual[i] as number) + (next / square) * (direction[i] as number);
    }
    square = next;
  }
  return x;
}

/** Returns the scalar product of two vectors. */
function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** Returns the inverse of the lower triangular matrix L. */
function inverseOfTriangle(l: Float64Array, n: number): Float64Array {
  const inverse = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    const diagonal = l[i * n + i] as number;
    for (let k = 0; k < i; k++) {
      const factor = (l[i * n + k] as number) / diagonal;
      const [rowI, rowK] = [i * n, k * n];
      for (let j = 0; j <= k; j++) {
        inverse[rowI + j] = (inverse[rowI + j] as number) - factor * (inverse[rowK + j] as number);
      }
    }
    inverse[i * n + i] = 1 / diagonal;
  }
  return inverse;
}
