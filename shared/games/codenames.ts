import { z } from "zod";
import { err, ok } from "#shared/lib/result.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { CURRENT_CLUE_RULE, clueFault, clueRules, fold, isVisible, sampleClues, upper } from "./codenames-clues.ts";
import {
  actionText,
  type Clue,
  type CodenamesAction,
  type CodenamesState,
  type CodenamesTurn,
  type CodenamesView,
  type Identity,
  skipReasons,
  TEAMS,
  type Team,
  textOf,
} from "./codenames-view.ts";
import { WORDS } from "./codenames-words.ts";
import type { Game, Role, Viewer } from "./game.ts";

const ROLES = ["red_spymaster", "red_team", "blue_spymaster", "blue_team"] as const;
type Seat = (typeof ROLES)[number];

export const BOARD_SIZE = 25;
const AGENTS = { first: 9, second: 8, neutral: 7 } as const;
/** The number of turns after which a game ends as a draw. */
const MAX_TURNS = 60;

/** A word of the board: one or several words of letters, at most 30 characters. */
export const BoardWord = z
  .string()
  .transform(upper)
  .pipe(
    z
      .string()
      .regex(/^\p{L}[\p{L}\p{M}'’ -]{0,29}$/u, "a word consists of letters, at most 30")
      .refine(isVisible, "a word consists of visible letters"),
  );

const Options = z.strictObject({
  words: z
    .array(BoardWord)
    .length(BOARD_SIZE, `give ${BOARD_SIZE} words`)
    .refine((words) => new Set(words.map(fold)).size === words.length, "each word may occur only once")
    .optional(),
  starting_team: z.enum(TEAMS).optional(),
  clue_rule: z.literal(clueRules).optional(),
});
type CodenamesOptions = z.infer<typeof Options>;

const FORM =
  'send {"type": "clue", "word", "number": 0 to 9 or "unlimited"}, {"type": "guess", "word"} or {"type": "pass"}';
const Action = z.union(
  [
    z.strictObject({
      type: z.literal("clue"),
      word: z.string().max(100).transform(upper),
      number: z.union([z.int().min(0).max(9), z.literal("unlimited")]),
    }),
    z.strictObject({ type: z.literal("guess"), word: z.string().max(100).transform(upper) }),
    z.strictObject({ type: z.literal("pass") }),
    z.strictObject({ type: z.literal("skip"), reason: z.enum(skipReasons) }),
  ],
  FORM,
) as z.ZodType<CodenamesAction>;

const HOW_TO_PLAY =
  "Two teams look for their agents behind 25 words. Only the two spymasters know which word belongs to whom. A spymaster gives a clue of one word and the number of words that it fits, and the team guesses words one after the other. A wrong guess ends the turn, and the word of the assassin loses the game. The team that has found all its agents first wins.";
const RULES = `Codenames. The board has 25 words: 9 agents of the team that begins, 8 agents of the other team, 7 neutral cards and 1 assassin. Only the
two spymasters know the identities. In its turn a spymaster gives a clue: one word of letters and a number from 0 to 9, or unlimited. A clue may not be a word that is
still covered, a form of one (BROKEN for BREAK, MICE for MOUSE), a part of one (EARTH for EARTHQUAKE) or a compound with one (SNOWSHOE for SHOE). The team then guesses up to number + 1 words, without a limit after 0 or unlimited; it must guess once and may then pass.
After one of its agents the team may guess again; any other card ends the turn, and an agent of the other team counts for the other team. The team whose last agent is found first wins. A team
that guesses the assassin loses immediately. Actions: {"type": "clue", "word": "OCEAN", "number": 2}, {"type": "guess", "word": "WHALE"}, {"type": "pass"};
as text: "OCEAN 2", "WHALE", "pass".`;

/**
 * Codenames (V. Chvatil, 2015). The legal clues of a spymaster are a sample: any word that follows the rules is legal.
 */
export const codenames: Game<CodenamesOptions, CodenamesState, CodenamesAction, CodenamesView, Seat> = {
  id: "codenames.v1",
  roles: ROLES,
  info: {
    name: "Codenames",
    rules: RULES,
    howToPlay: HOW_TO_PLAY,
    options: {
      words: "list of 25 different words for the board; default: drawn from the built-in words",
      starting_team: '"red" or "blue"; default: drawn',
      clue_rule: "version of the rule for clues; default: the newest",
    },
    simultaneous: false,
    hiddenInformation: true,
    seesAll: ["red_spymaster", "blue_spymaster"],
    teams: [
      { name: "red", roles: ["red_spymaster", "red_team"] },
      { name: "blue", roles: ["blue_spymaster", "blue_team"] },
    ],
    // A clue and an end for each turn, and a guess for each card.
    maxActions: 2 * MAX_TURNS + BOARD_SIZE,
    listsSample: true,
    board: "words",
    needsLanguage: true,
  },
  options: Options,
  optionsOfNew: (options) => ({ clue_rule: CURRENT_CLUE_RULE, ...options }),
  action: Action,
  initialState({ options, seed }) {
    const random = createRandom(seed);
    const first = options.starting_team ?? random.pick(TEAMS);
    const words = options.words ?? random.shuffle(WORDS).slice(0, BOARD_SIZE);
    // A separate generator: all viewers see the words, which must not allow anyone to compute the identities.
    const key = createRandom(`${seed}/key`).shuffle<Identity>([
      ...Array<Identity>(AGENTS.first).fill(first),
      ...Array<Identity>(AGENTS.second).fill(otherTeam(first)),
      ...Array<Identity>(AGENTS.neutral).fill("neutral"),
      "assassin",
    ]);
    const cards = words.map((word, index) => ({ word, identity: key[index] as Identity, uncovered: false }));
    const { clue_rule = 1 } = options;
    return { cards, ...beginTurn(cards, first, []), result: null, ...(clue_rule !== 1 && { clue_rule }) };
  },
  toAct: (state) => (state.phase === "over" ? [] : [roleToAct(state)]),
  legalActions(state, role) {
    if (state.phase === "over" || role !== roleToAct(state)) return [];
    if (state.phase === "clue")
      return sampleClues(covered(state), state.clue_rule ?? 1).map((clue) => ({ type: "clue", ...clue }));
    const guesses = covered(state).map((word) => ({ type: "guess" as const, word }));
    return hasGuessed(state) ? [...guesses, { type: "pass" }] : guesses;
  },
  applyAction(state, role, raw) {
    if (state.phase === "over") return err({ message: "the game is over" });
    if (role !== roleToAct(state)) return err({ message: `it is ${roleToAct(state)}'s turn` });
    // The actions of a replayed log are not parsed by the schema.
    const parsed = Action.safeParse(raw);
    if (!parsed.success) return err({ message: FORM });
    const action = parsed.data;
    if (action.type === "skip") return ok(endTurn(withCurrentTurn(state, { skipped: action.reason })));
    if (state.phase === "clue")
      return action.type === "clue" ? giveClue(state, action) : err({ message: "give a clue" });
    if (action.type === "clue") return err({ message: "guess a word" });
    if (action.type === "guess") return guess(state, action.word);
    return hasGuessed(state) ? ok(endTurn(state)) : err({ message: "guess at least one word before you pass" });
  },
  isDriverAction: ({ type }) => type === "skip",
  isTerminal: (state) => state.phase === "over",
  outcome({ result }) {
    if (!result) return null;
    const scoreOf = (role: Role) => (result.winner === null ? 0 : Number(role.startsWith(result.winner)));
    return { scores: Object.fromEntries(ROLES.map((role) => [role, scoreOf(role)])), reason: result.reason };
  },
  // Every viewer sees all identities when the game is over.
  viewState: (state, viewer) =>
    isSpymaster(viewer) || state.phase === "over"
      ? state
      : { ...state, cards: state.cards.map((card) => (card.uncovered ? card : { ...card, identity: null })) },
  // viewState returns a view of the same viewer unchanged.
  toText: (state, viewer) => textOf(codenames.viewState(state as CodenamesState, viewer)),
  actionText,
  readAction(state, text) {
    if (state.phase === "clue") return readClue(text.trim());
    if (/^pass$/i.test(text.trim())) return { type: "pass" };
    const cardOf = (name: string) => state.cards.find(({ word }) => fold(word) === fold(name));
    // In this order, because a word on the board may begin with "guess".
    const card = cardOf(text) ?? cardOf(text.trim().replace(/^guess\b[: ]*/i, ""));
    return card ? { type: "guess", word: card.word } : null;
  },
};

/** Reads a clue such as "ocean 3" or "clue: ocean, unlimited". Returns null for any other text. */
function readClue(text: string): CodenamesAction | null {
  const [, word, number = ""] = /^(?:clue\b[: ]*)?([\p{L}\p{M}]+)[\s,:]+(\d|unlimited)$/iu.exec(text) ?? [];
  if (word === undefined) return null;
  return { type: "clue", word: upper(word), number: /\d/.test(number) ? Number(number) : "unlimited" };
}

const isSpymaster = (viewer: Viewer): boolean => viewer === "red_spymaster" || viewer === "blue_spymaster";

const otherTeam = (team: Team): Team => (team === "red" ? "blue" : "red");
/** Returns the role whose action is expected. */
const roleToAct = ({ turn, phase }: CodenamesView): Role => `${turn}_${phase === "clue" ? "spymaster" : "team"}`;
/** Returns whether the team has guessed in the current turn. */
const hasGuessed = ({ turns }: CodenamesView): boolean => (turns.at(-1)?.guesses.length ?? 0) > 0;
/** Returns the words of the cards that have not been guessed. */
const covered = ({ cards }: CodenamesView): string[] =>
  cards.flatMap(({ word, uncovered }) => (uncovered ? [] : [word]));

const remainingIn = (cards: CodenamesState["cards"]): Record<Team, number> => {
  const countOf = (team: Team) => cards.filter(({ identity, uncovered }) => identity === team && !uncovered).length;
  return { red: countOf("red"), blue: countOf("blue") };
};

/** Returns the fields of a state at the beginning of a team's turn. */
function beginTurn(cards: CodenamesState["cards"], team: Team, before: readonly CodenamesTurn[]) {
  const turns = [...before, { team, clue: null, guesses: [], skipped: null }];
  return { remaining: remainingIn(cards), turn: team, phase: "clue" as const, guesses_left: null, turns };
}

/** Returns the state with changed fields of the current turn. */
const withCurrentTurn = (state: CodenamesState, changes: Partial<CodenamesTurn>): CodenamesState => {
  const current = state.turns.at(-1) as CodenamesTurn;
  return { ...state, turns: [...state.turns.slice(0, -1), { ...current, ...changes }] };
};

/** Returns the state after the end of a turn: the other team's turn, or a draw if the turn limit is reached. */
function endTurn(state: CodenamesState): CodenamesState {
  if (state.turns.length >= MAX_TURNS) return endGame(state, null, "turn_limit");
  return { ...state, ...beginTurn(state.cards, otherTeam(state.turn), state.turns) };
}

const endGame = (
  state: CodenamesState,
  winner: Team | null,
  reason: NonNullable<CodenamesView["result"]>["reason"],
): CodenamesState => ({ ...state, phase: "over", guesses_left: null, result: { winner, reason } });

/** Returns the state after a clue, or an error if the clue is not legal. */
function giveClue(state: CodenamesState, { word, number }: Clue) {
  const fault = clueFault(word, covered(state), state.clue_rule ?? 1);
  if (fault !== null) return err({ message: fault });
  const isLimited = typeof number === "number" && number > 0;
  const next = withCurrentTurn(state, { clue: { word, number } });
  return ok<CodenamesState>({ ...next, phase: "guess", guesses_left: isLimited ? number + 1 : null });
}

/** Returns the state after a guess, or an error if no covered card has the word. */
function guess(state: CodenamesState, word: string) {
  const index = state.cards.findIndex((card) => !card.uncovered && fold(card.word) === fold(word));
  const card = state.cards[index];
  if (!card) return err({ message: "that word is not on the board, or it has been guessed" });
  const cards = state.cards.with(index, { ...card, uncovered: true });
  const guesses = [...(state.turns.at(-1)?.guesses ?? []), { word: card.word, identity: card.identity }];
  const next = withCurrentTurn({ ...state, cards, remaining: remainingIn(cards) }, { guesses });
  if (card.identity === "assassin") return ok(endGame(next, otherTeam(state.turn), "assassin"));
  const winner = TEAMS.find((team) => next.remaining[team] === 0);
  if (winner) return ok(endGame(next, winner, "agents_found"));
  const guessesLeft = state.guesses_left === null ? null : state.guesses_left - 1;
  return ok(card.identity === state.turn && guessesLeft !== 0 ? { ...next, guesses_left: guessesLeft } : endTurn(next));
}
