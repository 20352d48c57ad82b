import { type CodenamesAction, type CodenamesState, type CodenamesView, codenames } from "#shared/games/codenames.ts";
import type { Role } from "#shared/games/game.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { firstPending, type PlayerType } from "../../../referee/codenames/flow.ts";
import { questionFor } from "../../../referee/codenames/questions.ts";
import { median } from "../median.ts";

/** Checks and asks in the middle of games of Codenames, in a process of its own: `bench-codenames.ts SEED GAMES`. */
export interface CodenamesRate {
  /** Positions of each kind: a clue is due, a first guess, another guess. */
  readonly positions: number;
  /** Microseconds each, medians of the passes. */
  readonly us: Readonly<Record<(typeof WHAT)[number], number>>;
}

const WHAT = [
  "applyClue",
  "applyGuess",
  "legalClues",
  "legalGuesses",
  "viewState",
  "promptClue",
  "promptGuess",
  "promptContinue",
  "formClue",
  "formGuess",
  "formContinue",
] as const;

const [seed = "bench", games = "20"] = process.argv.slice(2);
const WARM_UPS = 5;
const PASSES = 15;
/** Turns that are played before, and calls for each position in a pass. */
const TURNS_BEFORE = 8;
const REPEATS = 20;
const CLUE = { type: "clue", word: "ZXQWV", number: 2 } as const;

function after(state: CodenamesState, action: CodenamesAction | undefined): CodenamesState {
  const applied = codenames.applyAction(state, codenames.toAct(state)[0] ?? "", action as CodenamesAction);
  if (!applied.ok) throw new Error(applied.error.message);
  return applied.value;
}

/** A guess of this kind, if there is one left; the assassin is never guessed. */
const guessIn = ({ cards }: CodenamesState, isWanted: (identity: string) => boolean) => {
  const card = cards.find(({ identity, uncovered }) => !uncovered && isWanted(identity));
  return card && ({ type: "guess", word: card.word } as const);
};

interface Positions {
  readonly clue: CodenamesState;
  readonly guess: CodenamesState;
  readonly another: CodenamesState;
}

/** The middle of a game: most turns so far have found one agent and then a neutral card. */
function middleOf(name: string): Positions {
  const random = createRandom(name);
  let state = codenames.initialState({ options: codenames.options.parse({}), seed: name });
  const found = (identity: string): boolean => identity === state.turn;
  for (let turn = 0; turn < TURNS_BEFORE; turn++) {
    state = after(after(state, CLUE), guessIn(state, found));
    const wrong = random.next() < 0.5 ? guessIn(state, (identity) => identity === "neutral") : undefined;
    state = after(state, wrong ?? { type: "pass" });
  }
  const guess = after(state, CLUE);
  return { clue: state, guess, another: after(guess, guessIn(guess, found)) };
}

const all = Array.from({ length: Number(games) }, (_, index) => middleOf(`${seed}/${index}`));

const roleIn = (state: CodenamesState): Role => codenames.toAct(state)[0] ?? "";
const view = (state: CodenamesState): CodenamesView => codenames.viewState(state, roleIn(state));
/** What a role is asked, from the state to the last word, as the director builds it. */
const question = (state: CodenamesState, type: PlayerType): object =>
  questionFor(view(state), roleIn(state), type, firstPending(state, 0), null);

const guessOf = new Map(all.map(({ guess }) => [guess, guessIn(guess, (identity) => identity === guess.turn)]));
const done: Readonly<Record<(typeof WHAT)[number], (positions: Positions) => unknown>> = {
  applyClue: ({ clue }) => after(clue, CLUE),
  applyGuess: ({ guess }) => after(guess, guessOf.get(guess)),
  legalClues: ({ clue }) => codenames.legalActions(clue, roleIn(clue)),
  legalGuesses: ({ guess }) => codenames.legalActions(guess, roleIn(guess)),
  viewState: ({ guess }) => view(guess),
  promptClue: ({ clue }) => question(clue, "llm"),
  promptGuess: ({ guess }) => question(guess, "llm"),
  promptContinue: ({ another }) => question(another, "llm"),
  formClue: ({ clue }) => question(clue, "user"),
  formGuess: ({ guess }) => question(guess, "user"),
  formContinue: ({ another }) => question(another, "user"),
};

let kept: unknown;
/** Microseconds of processor time for one call. */
function timed(run: (positions: Positions) => unknown): number {
  const { user, system } = process.cpuUsage();
  for (let repeat = 0; repeat < REPEATS; repeat++) for (const positions of all) kept = run(positions);
  const now = process.cpuUsage();
  return (now.user + now.system - user - system) / all.length / REPEATS;
}

const passes = Array.from({ length: WARM_UPS + PASSES }, () => WHAT.map((what) => timed(done[what]))).slice(WARM_UPS);
const us = Object.fromEntries(WHAT.map((what, place) => [what, median(passes.map((pass) => pass[place] ?? 0))]));
const rate: CodenamesRate = { positions: all.length, us: us as CodenamesRate["us"] };
if (kept === undefined) throw new Error("nothing was measured");
process.on("disconnect", () => process.exit());
process.on("message", () => process.send?.(rate));
process.send?.({ type: "ready", url: "" });
