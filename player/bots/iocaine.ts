import type { RpsAction } from "#shared/games/rps.ts";
import type { Bot } from "../sdk.ts";
import { afterLongestRepetition, BEATEN_BY, CHOICES, closedRounds, type PlayedRound } from "./strategies/rps-rounds.ts";

/** The share of a strategy's score that remains after each round, so that recent rounds count more. */
const MEMORY = 0.9;

/**
 * The idea of Iocaine Powder (D. Egnor, winner of the First International RoShamBo Programming Competition, 1999). Each predictor names the next
 * action of one player. Used against the opponent and against the bot itself, and second-guessed up to twice, it gives six strategies. The bot follows the
 * strategy that would have won most in the recent rounds, or chooses at random while no strategy would have won.
 */
export default (({ view, role, random }) => {
  const rounds = closedRounds(view, role);
  const scores = new Map<number, number>();
  for (let index = 0; index < rounds.length; index++) {
    const played = rounds[index] as PlayedRound;
    for (const [strategy, action] of proposals(rounds.slice(0, index)).entries()) {
      const score = (scores.get(strategy) ?? 0) * MEMORY;
      scores.set(strategy, action === null ? score : score + resultOf(action, played.theirs));
    }
  }
  let best: RpsAction | null = null;
  let highest = 0;
  for (const [strategy, action] of proposals(rounds).entries()) {
    const score = scores.get(strategy) ?? 0;
    if (action !== null && score > highest) [best, highest] = [action, score];
  }
  return best ?? random.pick<RpsAction>(CHOICES);
}) satisfies Bot<"rps.v1">;

/** Names the next action of the player `theirs` from the rounds so far; null if it has no prediction. */
type Predictor = (rounds: readonly PlayedRound[]) => RpsAction | null;

const PREDICTORS: readonly Predictor[] = [
  (rounds) => repeated(rounds, ({ own, theirs }) => `${own} ${theirs}`),
  (rounds) => repeated(rounds, ({ own }) => own),
  (rounds) => repeated(rounds, ({ theirs }) => theirs),
  (rounds) => mostFrequent(rounds),
  (rounds) => mostFrequent(rounds.slice(-10)),
  (rounds) => rounds.at(-1)?.theirs ?? null,
];

const repeated = (rounds: readonly PlayedRound[], keyOf: (round: PlayedRound) => string): RpsAction | null =>
  afterLongestRepetition(
    rounds.map(keyOf),
    rounds.map(({ theirs }) => theirs),
  );

function mostFrequent(rounds: readonly PlayedRound[]): RpsAction | null {
  const counts = CHOICES.map((choice) => rounds.filter(({ theirs }) => theirs === choice).length);
  const highest = Math.max(...counts);
  return highest === 0 ? null : (CHOICES[counts.indexOf(highest)] as RpsAction);
}

/**
 * Returns the action of each strategy, in a fixed order. If a predictor names p for the opponent, the strategies choose the action that beats p, the one
 * that beats the opponent's answer to that, and so on. Named for the bot itself, it is what the opponent may expect.
 */
function proposals(rounds: readonly PlayedRound[]): readonly (RpsAction | null)[] {
  const mirrored = rounds.map(({ own, theirs }) => ({ own: theirs, theirs: own }));
  return PREDICTORS.flatMap((predict) => {
    const [theirs, own] = [predict(rounds), predict(mirrored)];
    return [...guesses(theirs && BEATEN_BY[theirs]), ...guesses(own && BEATEN_BY[BEATEN_BY[own]])];
  });
}

/** An action, the action that beats the opponent's best answer to it, and the one that beats the best answer to that. */
function guesses(action: RpsAction | null): readonly (RpsAction | null)[] {
  if (action === null) return [null, null, null];
  const second = BEATEN_BY[BEATEN_BY[action]];
  return [action, second, BEATEN_BY[BEATEN_BY[second]]];
}

/** 1 for a win, -1 for a loss, 0 for a draw. */
function resultOf(own: RpsAction, theirs: RpsAction): number {
  if (own === theirs) return 0;
  return BEATEN_BY[theirs] === own ? 1 : -1;
}
