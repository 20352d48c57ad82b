import { z } from "zod";
import { err, ok } from "../lib/result.ts";
import { createRandom } from "../lib/rng.ts";
import { actionText, textOf } from "./codenames-texts.ts";
import {
  beginTurn,
  covered,
  endTurn,
  giveClue,
  guess,
  hasGuessed,
  MAX_TURNS,
  noted,
  otherTeam,
  roleToAct,
  TEAMS,
} from "./codenames-turns.ts";
import type { Game, Role, Viewer } from "./game.ts";
import {
  type ClueRule,
  CURRENT_CLUE_RULE,
  clueRules,
  fold,
  isSeen,
  sampleClues,
  upper,
} from "./words/codenames-clues.ts";
import { WORDS } from "./words/codenames-words.ts";

const ROLES = ["red_spymaster", "red_team", "blue_spymaster", "blue_team"] as const;
export type Team = (typeof TEAMS)[number];
export type Identity = Team | "neutral" | "assassin";

export interface CodenamesCard {
  readonly word: string;
  /** Null for a viewer who may not know it: a team or a spectator, while the card is covered. */
  readonly identity: Identity | null;
  /** Guessed, and so known to all. */
  readonly uncovered: boolean;
}

export interface Clue {
  readonly word: string;
  readonly number: number | "unlimited";
}

/** A turn so far: its clue, null when the spymaster gave none, and what was guessed. */
export interface CodenamesTurn {
  readonly team: Team;
  readonly clue: Clue | null;
  readonly guesses: readonly { readonly word: string; readonly identity: Identity }[];
  /** Why a player's half of the turn was given up; null when it was played. */
  readonly skipped: SkipReason | null;
}

export interface CodenamesView {
  /** Five rows of five, row by row. */
  readonly cards: readonly CodenamesCard[];
  /** Agents that each team has still to find. */
  readonly remaining: Readonly<Record<Team, number>>;
  readonly turn: Team;
  readonly phase: "clue" | "guess" | "over";
  /** How many more may be guessed in this turn; null without a limit, and outside of guessing. */
  readonly guesses_left: number | null;
  /** All turns, the open one last. */
  readonly turns: readonly CodenamesTurn[];
  readonly result: { readonly winner: Team | null; readonly reason: "agents_found" | "assassin" | "turn_limit" } | null;
  /** Absent for the first one, which older sessions have. */
  readonly clue_rule?: ClueRule;
}

/** As the view, with every identity known. */
export interface CodenamesState extends CodenamesView {
  readonly cards: readonly (CodenamesCard & { readonly identity: Identity })[];
}

/** Why half of a turn is given up. Everybody sees it, so it is none of a player's own words: a spymaster could say in it what a clue may not. */
const skipReasons = ["no_answer", "not_as_asked", "illegal_clue", "illegal_guess", "form_left"] as const;
export type SkipReason = (typeof skipReasons)[number];

export type CodenamesAction =
  | { readonly type: "clue"; readonly word: string; readonly number: number | "unlimited" }
  | { readonly type: "guess"; readonly word: string }
  | { readonly type: "pass" }
  | { readonly type: "skip"; readonly reason: SkipReason };

export const BOARD_SIZE = 25;
const AGENTS = { first: 9, second: 8, neutral: 7 } as const;

/** A word for the board: letters, perhaps several words; at most 30 characters. */
export const BoardWord = z
  .string()
  .transform(upper)
  .pipe(
    z
      .string()
      .regex(/^\p{L}[\p{L}\p{M}'’ -]{0,29}$/u, "a word has letters, at most 30")
      .refine(isSeen, "a word has letters that can be seen"),
  );

const Options = z.strictObject({
  words: z
    .array(BoardWord)
    .length(BOARD_SIZE, `give ${BOARD_SIZE} words`)
    .refine((words) => new Set(words.map(fold)).size === words.length, "each word may be there once")
    .optional(),
  starting_team: z.enum(TEAMS).optional(),
  clue_rule: z.literal(clueRules).optional(),
});
type CodenamesOptions = z.infer<typeof Options>;

const FORM =
  'say {"type": "clue", "word", "number": 0 to 9 or "unlimited"}, {"type": "guess", "word"} or {"type": "pass"}';
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

const RULES = `Codenames. 25 words lie on the board. Behind them are 9 agents of the team that begins, 8 of the other, 7 neutral cards and 1 assassin; only the
two spymasters know which is which. By turns a spymaster gives a clue: one word of letters and a number from 0 to 9, or unlimited. A clue may not be a word that is
still covered, a form of one (BROKEN for BREAK, MICE for MOUSE), a part of one (EARTH for EARTHQUAKE) or a compound with one (SNOWSHOE for SHOE). Its team then guesses up to number + 1 words, without a limit after 0 or unlimited; it must guess once and may then pass.
An own agent lets it go on, anything else ends the turn; the other team's agent counts for the other team. Who finds its last agent first wins; the
assassin loses the game at once. Actions: {"type": "clue", "word": "OCEAN", "number": 2}, {"type": "guess", "word": "WHALE"}, {"type": "pass"};
in words "OCEAN 2", "WHALE", "pass".`;

/** Codenames (V. Chvatil, 2015). The spymaster's legal clues are a sample: any word that breaks no rule is legal. */
export const codenames: Game<CodenamesOptions, CodenamesState, CodenamesAction, CodenamesView> = {
  id: "codenames.v1",
  roles: ROLES,
  info: {
    name: "Codenames",
    rules: RULES,
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
    // Each turn a clue and an end, and every card once.
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
    // From a generator of its own: all see the words, and no reckoning back from them may lead to the key.
    const key = createRandom(`${seed}/key`).shuffle<Identity>([
      ...Array<Identity>(AGENTS.first).fill(first),
      ...Array<Identity>(AGENTS.second).fill(otherTeam(first)),
      ...Array<Identity>(AGENTS.neutral).fill("neutral"),
      "assassin",
    ]);
    const cards = words.map((word, place) => ({ word, identity: key[place] as Identity, uncovered: false }));
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
    // A log that is replayed has not gone through the schema.
    const parsed = Action.safeParse(raw);
    if (!parsed.success) return err({ message: FORM });
    const action = parsed.data;
    if (action.type === "skip") return ok(endTurn(noted(state, { skipped: action.reason })));
    if (state.phase === "clue")
      return action.type === "clue" ? giveClue(state, action) : err({ message: "give a clue" });
    if (action.type === "clue") return err({ message: "guess a word" });
    if (action.type === "guess") return guess(state, action.word);
    return hasGuessed(state) ? ok(endTurn(state)) : err({ message: "guess at least one word before you pass" });
  },
  isDriversOwn: ({ type }) => type === "skip",
  isTerminal: (state) => state.phase === "over",
  outcome({ result }) {
    if (!result) return null;
    const scoreOf = (role: Role) => (result.winner === null ? 0 : Number(role.startsWith(result.winner)));
    return { scores: Object.fromEntries(ROLES.map((role) => [role, scoreOf(role)])), reason: result.reason };
  },
  // Every viewer sees the key once the game is over.
  viewState: (state, viewer) =>
    isSpymaster(viewer) || state.phase === "over"
      ? state
      : { ...state, cards: state.cards.map((card) => (card.uncovered ? card : { ...card, identity: null })) },
  toText: (state, viewer) => textOf(codenames.viewState(state, viewer)),
  actionText,
  readAction(state, text) {
    if (state.phase === "clue") return readClue(text.trim());
    if (/^pass$/i.test(text.trim())) return { type: "pass" };
    const cardOf = (named: string) => state.cards.find(({ word }) => fold(word) === fold(named));
    // In this order: a word on the board may begin with "guess" itself.
    const card = cardOf(text) ?? cardOf(text.trim().replace(/^guess\b[: ]*/i, ""));
    return card ? { type: "guess", word: card.word } : null;
  },
};

/** "ocean 3", "clue: ocean, unlimited"; null for anything else. */
function readClue(text: string): CodenamesAction | null {
  const [, word, number = ""] = /^(?:clue\b[: ]*)?([\p{L}\p{M}]+)[\s,:]+(\d|unlimited)$/iu.exec(text) ?? [];
  if (word === undefined) return null;
  return { type: "clue", word: upper(word), number: /\d/.test(number) ? Number(number) : "unlimited" };
}

const isSpymaster = (viewer: Viewer): boolean => viewer === "red_spymaster" || viewer === "blue_spymaster";
