/** What the tests of Codenames share: positions made by a few words, and games played by a script of them. */
import { type CodenamesAction, type CodenamesState, codenames, type Identity } from "../codenames.ts";
import { applyLegal } from "../simulate.ts";

export const begin = (options: object = {}, seed = "seed"): CodenamesState =>
  codenames.initialState({ options: codenames.options.parse(options), seed });

/** 25 words: these, and as many of one letter each as are missing. */
export const wordsWith = (...words: readonly string[]): string[] =>
  [...words, ..."あいうえおかきくけこさしすせそたちつてとなにぬねの"].slice(0, 25);

export const coveredOf = (state: CodenamesState, identity: Identity): string[] =>
  state.cards.flatMap((card) => (card.identity === identity && !card.uncovered ? [card.word] : []));

const other = { red: "blue", blue: "red" } as const;

/** "own", "other", "neutral", "assassin": a guess of such a card; "pass"; "skip"; "clue", or "clue 3": a clue with that number. */
function actionOf(state: CodenamesState, text: string): CodenamesAction {
  const [what = "", number = "1"] = text.split(" ");
  if (what === "clue") return { type: "clue", word: "CLUE", number: number === "unlimited" ? number : Number(number) };
  if (what === "pass") return { type: "pass" };
  if (what === "skip") return { type: "skip", reason: "no_answer" };
  const identity = what === "own" ? state.turn : what === "other" ? other[state.turn] : (what as Identity);
  return { type: "guess", word: coveredOf(state, identity)[0] ?? "" };
}

/** Plays a script like "clue 1, own, own, clue 0, neutral", each action by the role whose turn it is. */
export function play(state: CodenamesState, script: string): CodenamesState {
  const texts = script.split(/\s*,\s*/).filter(Boolean);
  return texts.reduce((now, text) => act(now, actionOf(now, text)), state);
}

export const act = (state: CodenamesState, action: CodenamesAction): CodenamesState =>
  applyLegal(codenames as never, state, codenames.toAct(state)[0] ?? "", action) as CodenamesState;

/** What a role is told when it tries; null when it may. */
export function refusal(state: CodenamesState, role: string, action: unknown): string | null {
  const applied = codenames.applyAction(state, role, action as CodenamesAction);
  return applied.ok ? null : applied.error.message;
}
