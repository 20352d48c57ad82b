import { codenames } from "#shared/games/codenames.ts";
import type { CodenamesAction, CodenamesState, CodenamesView } from "#shared/games/codenames-view.ts";
import type { Role } from "#shared/games/game.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { firstPending, type PlayerType, questionFor } from "../../../referee/codenames/questions.ts";
import { median } from "../process.ts";

/**
 * Result of the process `node scripts/bench/matches/codenames.ts SEED GAMES`, which measures the rules and the prompts of Codenames in the middle
 * of games.
 */
export interface CodenamesRate {
  /** The number of positions of each kind: before a clue, before a first guess, before another guess. */
  readonly positions: number;
  /** Microseconds of processor time per call. Each is the median of the passes. */
  readonly microseconds: Readonly<Record<Measurement, number>>;
}

const MEASUREMENTS = [
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
type Measurement = (typeof MEASUREMENTS)[number];

const [seed = "bench", gameCount = "20"] = process.argv.slice(2);
const WARM_UPS = 5;
const PASSES = 15;
/** Turns that are played before a position is measured. */
const TURNS_BEFORE = 8;
/** Calls per position in a pass. */
const REPEATS = 20;
const CLUE = { type: "clue", word: "ZXQWV", number: 2 } as const;

function stateAfter(state: CodenamesState, action: CodenamesAction | undefined): CodenamesState {
  const applied = codenames.applyAction(state, codenames.toAct(state)[0] ?? "", action as CodenamesAction);
  if (!applied.ok) throw new Error(applied.error.message);
  return applied.value;
}

/** Returns a guess of a covered card with a wanted identity; undefined if there is none. */
const guessOf = ({ cards }: CodenamesState, isWanted: (identity: string) => boolean) => {
  const card = cards.find(({ identity, uncovered }) => !uncovered && isWanted(identity));
  return card && ({ type: "guess", word: card.word } as const);
};

/** Positions before a clue, before a first guess and before another guess of the same turn. */
interface Positions {
  readonly clue: CodenamesState;
  readonly guess: CodenamesState;
  readonly another: CodenamesState;
}

/** Returns positions in the middle of a game, after turns that uncovered one agent and, in about half of them, a neutral card. */
function midGame(name: string): Positions {
  const random = createRandom(name);
  let state = codenames.initialState({ options: codenames.options.parse({}), seed: name });
  const isAgent = (identity: string): boolean => identity === state.turn;
  for (let turn = 0; turn < TURNS_BEFORE; turn++) {
    state = stateAfter(stateAfter(state, CLUE), guessOf(state, isAgent));
    const neutralGuess = random.next() < 0.5 ? guessOf(state, (identity) => identity === "neutral") : undefined;
    state = stateAfter(state, neutralGuess ?? { type: "pass" });
  }
  const guess = stateAfter(state, CLUE);
  return { clue: state, guess, another: stateAfter(guess, guessOf(guess, isAgent)) };
}

const games = Array.from({ length: Number(gameCount) }, (_, index) => midGame(`${seed}/${index}`));

const roleIn = (state: CodenamesState): Role => codenames.toAct(state)[0] ?? "";
const view = (state: CodenamesState): CodenamesView => codenames.viewState(state, roleIn(state));
/** Builds the question to a role from the state, as the director does. */
const question = (state: CodenamesState, type: PlayerType): object =>
  questionFor(view(state), roleIn(state), type, firstPending(state, 0), null);

const correctGuesses = new Map(
  games.map(({ guess }) => [guess, guessOf(guess, (identity) => identity === guess.turn)]),
);
const calls: Readonly<Record<Measurement, (positions: Positions) => unknown>> = {
  applyClue: ({ clue }) => stateAfter(clue, CLUE),
  applyGuess: ({ guess }) => stateAfter(guess, correctGuesses.get(guess)),
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

/** The last result. It is kept, so that V8 does not remove the measured calls. */
let lastResult: unknown;
/** Returns the microseconds of processor time of one call. */
function cpuTimeOf(run: (positions: Positions) => unknown): number {
  const { user, system } = process.cpuUsage();
  for (let repeat = 0; repeat < REPEATS; repeat++) for (const positions of games) lastResult = run(positions);
  const now = process.cpuUsage();
  return (now.user + now.system - user - system) / games.length / REPEATS;
}

const measurePass = (): readonly number[] => MEASUREMENTS.map((name) => cpuTimeOf(calls[name]));
const passes = Array.from({ length: WARM_UPS + PASSES }, measurePass).slice(WARM_UPS);
const medians = MEASUREMENTS.map((name, index) => [name, median(passes.map((pass) => pass[index] ?? 0))]);
const rate: CodenamesRate = { positions: games.length, microseconds: Object.fromEntries(medians) };
if (lastResult === undefined) throw new Error("nothing was measured");
process.on("disconnect", () => process.exit());
process.on("message", () => process.send?.(rate));
process.send?.({ type: "ready", url: "" });
