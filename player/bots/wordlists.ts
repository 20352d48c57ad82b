import { type ClueRule, clueFault } from "#shared/games/codenames-clues.ts";
import type { CodenamesAction, CodenamesCard, CodenamesView } from "#shared/games/codenames-view.ts";
import type { Random } from "#shared/lib/rng.ts";
import type { Bot } from "../sdk.ts";
import { WORD_LISTS } from "./strategies/word-lists.ts";

/**
 * Plays Codenames with a partner that has the same lists of words. The number of a clue is the number of covered words at the beginning of its list that are all
 * agents of the own team, and the partner guesses these words. Without such a list, or without the clue's list, a player chooses at random.
 */
export default (({ view, role, legal, random }) => {
  const team = role.startsWith("red") ? "red" : "blue";
  if (view.phase === "clue") return bestClue(view, team) ?? random.pick(legal);
  return nextGuess(view, legal, random);
}) satisfies Bot<"codenames.v1">;

/** Returns the clue that names the most agents of the team, the first one of several; null if no list begins with an agent of the team. */
function bestClue(view: CodenamesView, team: "red" | "blue"): CodenamesAction | null {
  const covered = view.cards.filter(({ uncovered }) => !uncovered);
  const coveredWords = covered.map(({ word }) => word);
  let best: CodenamesAction | null = null;
  let most = 0;
  for (const [word, related] of WORD_LISTS) {
    const number = agentsAtStart(related, covered, team);
    if (number <= most || clueFault(word, coveredWords, (view.clue_rule ?? 1) as ClueRule) !== null) continue;
    [best, most] = [{ type: "clue", word, number }, number];
  }
  return best;
}

/** The number of covered words at the beginning of a list that are all agents of the team. */
function agentsAtStart(related: readonly string[], covered: readonly CodenamesCard[], team: "red" | "blue"): number {
  const identities = related.flatMap((word) => covered.find((card) => card.word === word)?.identity ?? []);
  const firstOther = identities.findIndex((identity) => identity !== team);
  return firstOther < 0 ? identities.length : firstOther;
}

/** Guesses the next covered word of the clue's list, and passes when the number of the clue is guessed. */
function nextGuess(
  { turns, cards }: CodenamesView,
  legal: readonly CodenamesAction[],
  random: Random,
): CodenamesAction {
  const { clue, guesses } = turns.at(-1) as CodenamesView["turns"][number];
  const canPass = legal.some(({ type }) => type === "pass");
  if (canPass && guesses.length >= Number(clue?.number)) return { type: "pass" };
  const related = WORD_LISTS.get(clue?.word ?? "") ?? [];
  const word = related.find((candidate) => cards.some((card) => card.word === candidate && !card.uncovered));
  if (word !== undefined) return { type: "guess", word };
  return canPass ? { type: "pass" } : random.pick(legal);
}
