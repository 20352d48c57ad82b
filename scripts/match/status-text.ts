import { sprtText } from "#shared/statistics/sprt.ts";
import { durationText, type Pace } from "./live-line.ts";
import { type MatchState, namesIn, ratingsOf } from "./result.ts";
import { eloText, likelihoodText, percentText } from "./texts.ts";

/** The live line of a match: the state of the games, and their pace. */
export function statusText(state: MatchState, pace: Pace): string {
  const { completed, total } = state.games;
  const [only, second] = state.comparisons;
  const gamesLeft = state.test ? (only?.gamesNeeded ?? null) : total - completed;
  const speed = pace.of(completed, gamesLeft);
  const rate = speed === null ? [] : [`${speed.perSecond.toFixed(speed.perSecond < 10 ? 1 : 0)} games/s`];
  const left = speed?.secondsLeft == null ? [] : [`${durationText(speed.secondsLeft)} left`];
  const score =
    only && second === undefined
      ? [
          `${only.wins}-${only.draws}-${only.losses}`,
          percentText(only),
          `Elo ${eloText(only)}`,
          `LOS ${likelihoodText(only.strength.superiority)}`,
          ...(only.sprt ? [sprtText(only.sprt)] : []),
        ]
      : [leaders(state)];
  return [`${completed}/${total}`, ...score, ...rate, ...left].join("  ");
}

function leaders(state: MatchState): string {
  const nameOf = namesIn(state);
  return ratingsOf(state)
    .slice(0, 3)
    .map(({ player, rating, error }) => `${nameOf(player)} ${rating.toFixed(0)} ± ${error.toFixed(0)}`)
    .join(", ");
}
