import { counted } from "#shared/lib/text.ts";
import { type Interval, roundedGames } from "#shared/statistics/elo.ts";
import { hypothesisText, type SprtOptions } from "#shared/statistics/sprt.ts";
import type { Comparison, Forfeits } from "./score.ts";

/** The names of players by id. */
export type NameOf = (playerId: string) => string;

/**
 * The text `54.1% ± 3.1`, or `100.0% (45 to 100)` if the interval does not have the same width on both sides of the value. `side` is the player whose
 * percentage is shown.
 */
export function percentText({ strength: { percent } }: Comparison, side: 0 | 1 = 0): string {
  const first = percent.value.toFixed(1);
  const value = side === 0 ? first : (100 - Number(first)).toFixed(1);
  if (isSymmetric(percent, 50)) return `${value}% ± ${percent.error.toFixed(1)}`;
  const bounds = side === 0 ? [percent.lower, percent.upper] : [100 - percent.upper, 100 - percent.lower];
  return `${value}% (${bounds.map((bound) => Number(bound.toFixed(1))).join(" to ")})`;
}

/** The text `+12 ± 30`, or `+191 (-35 to +480)` like `percentText`, or `+∞` after a score of 100%. */
export function eloText({ strength: { elo, percent } }: Comparison): string {
  const { lower, value, upper, error } = elo;
  if (value === null) return percent.value > 50 ? "+∞" : "-∞";
  const isBounded = lower !== null && upper !== null && error !== null;
  if (isBounded && isSymmetric({ lower, value, upper, error }, 0)) return `${signed(value)} ± ${error.toFixed(0)}`;
  return `${signed(value)} (${lower === null ? "-∞" : signed(lower)} to ${upper === null ? "+∞" : signed(upper)})`;
}

/** Whether `value ± error` is close to the interval and lies on the same side of `equal`, the value of equal players. */
function isSymmetric({ lower, value, upper, error }: Interval, equal: number): boolean {
  const isClose = (bound: number, shown: number): boolean =>
    Math.abs(bound - shown) <= error / 10 && bound > equal === shown > equal;
  return isClose(lower, value - error) && isClose(upper, value + error);
}

const signed = (value: number): string => `${value < 0 ? "" : "+"}${(Math.round(value) || 0).toFixed(0)}`;

/** The likelihood that a player is stronger, as a percentage. It is never 0% or 100%, because no number of games proves it. */
export function likelihoodText(superiority: number): string {
  const percent = superiority * 100;
  if (percent > 99.95) return "> 99.9%";
  return percent < 0.05 ? "< 0.1%" : `${percent.toFixed(1)}%`;
}

/** The text `2 timeout, 1 illegal_move`; empty without forfeits. */
export const forfeitText = (forfeits: Forfeits): string =>
  Object.entries(forfeits)
    .map(([cause, count]) => `${count} ${cause}`)
    .join(", ");

/** The sentence that states the result of a comparison. */
export function verdictText(comparison: Comparison, nameOf: NameOf, test: SprtOptions | null): string {
  const { strength, players, sprt, games, gamesNeeded } = comparison;
  const [first, second] = players.map(nameOf) as [string, string];
  if (games === 0) return "not decided: no game counts";
  const likelihood = (side: 0 | 1): string =>
    `likelihood ${likelihoodText(side === 0 ? strength.superiority : 1 - strength.superiority)}`;
  if (sprt && test && sprt.state !== "continue") {
    return `${sprt.state} accepted: ${hypothesisText(sprt.state, test, first, second)}: ${percentText(comparison)} (${likelihood(0)})`;
  }
  if (!sprt && strength.isSignificant) {
    const side = strength.percent.value > 50 ? 0 : 1;
    const [better, worse] = side === 0 ? [first, second] : [second, first];
    return `${better} is better than ${worse}: ${percentText(comparison, side)} (${likelihood(side)})`;
  }
  const needed =
    gamesNeeded === null
      ? "the score is too close to 50% to estimate how many more games are needed"
      : `about ${counted(roundedGames(gamesNeeded), "more game is", "more games are")} needed`;
  return `not decided yet: ${needed}`;
}
