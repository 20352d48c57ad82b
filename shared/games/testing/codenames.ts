/** Helpers of the tests of Codenames: positions with given words, and games that are played by a script. */
import { codenames } from "#shared/games/codenames.ts";
import { applyLegal } from "#shared/games/contract/obligation.ts";
import type { CodenamesAction, CodenamesState, Identity } from "../codenames-view.ts";

export const begin = (options: object = {}, seed = "seed"): CodenamesState =>
  codenames.initialState({ options: codenames.options.parse(options), seed });

/** Returns 25 words for a board: the given words, filled up with words of one letter. */
export const wordsWith = (...words: readonly string[]): string[] =>
  [...words, ..."あいうえおかきくけこさしすせそたちつてとなにぬねの"].slice(0, 25);

export const coveredOf = (state: CodenamesState, identity: Identity): string[] =>
  state.cards.flatMap((card) => (card.identity === identity && !card.uncovered ? [card.word] : []));

const other = { red: "blue", blue: "red" } as const;

/**
 * Returns the action of a script: "own", "other", "neutral" and "assassin" are guesses of such a card; then "pass",
 * "skip", "clue", and "clue 3" for a clue with a number.
 */
function actionOf(state: CodenamesState, text: string): CodenamesAction {
  const [name = "", number = "1"] = text.split(" ");
  if (name === "clue") return { type: "clue", word: "CLUE", number: number === "unlimited" ? number : Number(number) };
  if (name === "pass") return { type: "pass" };
  if (name === "skip") return { type: "skip", reason: "no_answer" };
  const identity = name === "own" ? state.turn : name === "other" ? other[state.turn] : (name as Identity);
  return { type: "guess", word: coveredOf(state, identity)[0] ?? "" };
}

/** Plays a script like "clue 1, own, own, clue 0, neutral", each action by the role whose turn it is. */
export function play(state: CodenamesState, script: string): CodenamesState {
  const texts = script.split(/\s*,\s*/).filter(Boolean);
  return texts.reduce((current, text) => act(current, actionOf(current, text)), state);
}

export const act = (state: CodenamesState, action: CodenamesAction): CodenamesState =>
  applyLegal(codenames as never, state, codenames.toAct(state)[0] ?? "", action) as CodenamesState;

/** Returns the message with which an action of a role is rejected; null if it is accepted. */
export function rejection(state: CodenamesState, role: string, action: unknown): string | null {
  const applied = codenames.applyAction(state, role, action as CodenamesAction);
  return applied.ok ? null : applied.error.message;
}
