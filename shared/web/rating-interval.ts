/** The rating of a player with half of the width of its 95% interval. */
interface Rated {
  readonly rating: number;
  readonly error: number;
}

/** The lowest and the highest rating of a scale. */
export interface Scale {
  readonly low: number;
  readonly high: number;
}

/** The average rating of the players of a league. */
export const AVERAGE_RATING = 1500;

/** The drawing of an interval, in a view box of 200 × 20: paths of the average and of the interval, and the position of the rating. */
export function intervalDrawing({ rating, error }: Rated, { low, high }: Scale) {
  const at = (value: number): string => (5 + (190 * (value - low)) / (high - low || 1)).toFixed(1);
  const [from, to] = [at(rating - error), at(rating + error)];
  return {
    average: `M${at(AVERAGE_RATING)} 0V20`,
    interval: `M${from} 10H${to}M${from} 5v10M${to} 5v10`,
    rating: at(rating),
    text: `${Math.round(rating - error)} to ${Math.round(rating + error)}`,
  };
}

/** The probability that a player is stronger than the next one, as text. */
export const likelihoodText = (likelihood: number): string => `${(100 * likelihood).toFixed(1)}%`;
