import { z } from "zod";
import { sha256Hex } from "../lib/hash.ts";
import { err, invariant, ok } from "../lib/result.ts";
import type { Game, Role, RoundSummary, Viewer } from "./game.ts";

const ROLES = ["ODD", "EVEN"] as const;
type Seat = (typeof ROLES)[number];

/** A number from 1 to 5 in variant `sum`, a parity in variant `draw`. */
export type EvenOddAction = number | "even" | "odd";

type Choices = Readonly<Record<Seat, EvenOddAction | null>>;
type Scores = Readonly<Record<Seat, number>>;

interface EvenOddRound {
  readonly round: number;
  readonly choices: Readonly<Record<Seat, EvenOddAction>>;
  /** The sum of both choices, or the drawn number. */
  readonly number: number;
  readonly parity: Seat;
  readonly winner: Seat | null;
}

export interface EvenOddView {
  /** WAITING_FOR_PLAYERS occurs only in views while players are missing, never in the state of a session. */
  readonly phase: "WAITING_FOR_PLAYERS" | "COLLECTING_CHOICES" | "DRAWING_NUMBER" | "FINISHED";
  readonly variant: "sum" | "draw";
  readonly rounds_to_win: number;
  readonly max_rounds: number;
  readonly round: number;
  readonly scores: Scores;
  readonly choices: Choices;
  readonly previous_rounds: readonly EvenOddRound[];
}

export interface EvenOddState extends EvenOddView {
  /** Present in variant `draw` only. No view contains it, because it determines the next numbers. */
  readonly seed?: string;
}

const MAX_ROUNDS = 50;
const Rounds = z.int().min(1).max(MAX_ROUNDS);
const Options = z
  .strictObject({
    variant: z.enum(["sum", "draw"]).default("sum"),
    rounds_to_win: Rounds.optional(),
    max_rounds: Rounds.optional(),
  })
  .transform(({ variant, rounds_to_win, max_rounds }) => {
    const roundsToWin = rounds_to_win ?? (variant === "sum" ? Math.min(3, max_rounds ?? 3) : 1);
    return {
      variant,
      rounds_to_win: roundsToWin,
      max_rounds: max_rounds ?? Math.max(roundsToWin, variant === "sum" ? 5 : 1),
    };
  })
  .refine(({ rounds_to_win, max_rounds }) => rounds_to_win <= max_rounds, "rounds_to_win is more than max_rounds");
type EvenOddOptions = z.infer<typeof Options>;

const Plain = z.union(
  [z.int().min(1).max(5), z.enum(["even", "odd"])],
  'choose a number from 1 to 5, or "even" or "odd"',
);
const Action: z.ZodType<EvenOddAction> = z.union(
  [Plain, z.object({ number: z.int().min(1).max(5) }).transform(({ number }) => number)],
  'choose a number from 1 to 5, or "even" or "odd"',
);

const LEGAL = { sum: [1, 2, 3, 4, 5], draw: ["even", "odd"] } as const;
const NO_CHOICES: Choices = { ODD: null, EVEN: null };
const isSeat = (role: Role): role is Seat => role === "ODD" || role === "EVEN";

const HOW_TO_PLAY =
  "In each round both players secretly choose a number from 1 to 5. Even wins the round if the sum is even, and Odd if it is odd. In the guessing variant both guess whether a drawn number is even or odd. The player who first wins the agreed number of rounds wins the game.";
const RULES = `Even or odd. Variant sum (the default): in each round both players secretly choose a number from 1 to 5. EVEN wins the round if the sum is
even, ODD if it is odd. The first player that has won rounds_to_win rounds (option, default 3) wins the game; after max_rounds rounds (option, default 5) the higher score wins, and equal scores are a draw.
Variant draw: both players secretly choose "even" or "odd", then a number from 1 to 10 is drawn. A player wins the round if only its guess is right.
An action is the number or the word.`;

/**
 * The Even/Odd game.
 * - `sum`: the parity of the sum of both choices decides the round.
 * - `draw`: a number from 1 to 10 is drawn, and a player wins the round if only its guess is right.
 */
export const evenOdd: Game<EvenOddOptions, EvenOddState, EvenOddAction, EvenOddView, Seat> = {
  id: "even_odd.v1",
  roles: ROLES,
  info: {
    name: "Even or odd",
    rules: RULES,
    howToPlay: HOW_TO_PLAY,
    options: {
      variant: '"sum" or "draw"; default: "sum"',
      rounds_to_win: "1 to 50: the rounds that a player must win; default: 3, in variant draw 1",
      max_rounds: "1 to 50, at least rounds_to_win: the maximum number of rounds; default: 5, in variant draw 1",
    },
    simultaneous: true,
    hiddenInformation: true,
    maxActions: 2 * MAX_ROUNDS,
    history: ["previous_rounds"],
    board: "numbers",
  },
  options: Options as z.ZodType<EvenOddOptions>,
  action: Action,
  initialState: ({ options, seed }) => ({
    phase: "COLLECTING_CHOICES",
    ...options,
    round: 1,
    scores: { ODD: 0, EVEN: 0 },
    choices: NO_CHOICES,
    previous_rounds: [],
    ...(options.variant === "draw" && { seed }),
  }),
  toAct: (state) => (state.phase === "FINISHED" ? [] : ROLES.filter((seat) => state.choices[seat] === null)),
  legalActions: (state, role) =>
    isSeat(role) && state.phase !== "FINISHED" && state.choices[role] === null ? LEGAL[state.variant] : [],
  applyAction(state, role, action) {
    if (!isSeat(role)) return err({ message: "no such role" });
    if (state.phase === "FINISHED") return err({ message: "the game is over" });
    if (state.choices[role] !== null) return err({ message: "you have already chosen" });
    const legal: readonly unknown[] = LEGAL[state.variant];
    if (!legal.includes(action)) return err({ message: `choose one of ${legal.join(", ")}` });
    const choices: Choices = { ...state.choices, [role]: action };
    const { ODD, EVEN } = choices;
    if (ODD === null || EVEN === null) return ok({ ...state, choices });
    return ok(drawNumber({ ...state, phase: "DRAWING_NUMBER", choices }, { ODD, EVEN }));
  },
  isTerminal: (state) => state.phase === "FINISHED",
  outcome: (state) => (state.phase === "FINISHED" ? { scores: state.scores, reason: reasonOf(state) } : null),
  viewState(state, viewer) {
    const { seed: _, ...known } = state;
    return state.phase === "FINISHED" ? known : { ...known, choices: visible(state.choices, viewer) };
  },
  waitingView: (view) => ({ ...view, phase: "WAITING_FOR_PLAYERS" }),
  endedView: (view) => ({ ...view, phase: "FINISHED" }),
  toText: (state, viewer) => textOf(evenOdd.viewState(state, viewer)),
  rounds: summaries,
};

/**
 * Closes a round in phase DRAWING_NUMBER. The number of the round is the sum of both choices or drawn; its parity
 * decides the round.
 */
function drawNumber(state: EvenOddState, choices: EvenOddRound["choices"]): EvenOddState {
  if (state.variant === "sum") return closeRound(state, choices, Number(choices.ODD) + Number(choices.EVEN));
  invariant(state.seed !== undefined, "a seed to draw from");
  return closeRound(state, choices, drawnNumber(state.seed, state.round));
}

/** Closes a round, which leads to the next round or to the end. */
function closeRound(state: EvenOddState, choices: EvenOddRound["choices"], number: number): EvenOddState {
  const parity: Seat = number % 2 === 0 ? "EVEN" : "ODD";
  const winner = state.variant === "sum" ? parity : onlyRightRole(choices, parity);
  const previous_rounds = [...state.previous_rounds, { round: state.round, choices, number, parity, winner }];
  const scores = withPoint(state.scores, winner);
  const isOver = Math.max(scores.ODD, scores.EVEN) >= state.rounds_to_win || state.round >= state.max_rounds;
  if (isOver) return { ...state, phase: "FINISHED", scores, previous_rounds };
  return {
    ...state,
    phase: "COLLECTING_CHOICES",
    round: state.round + 1,
    scores,
    choices: NO_CHOICES,
    previous_rounds,
  };
}

/**
 * Returns the number of a round in variant `draw`, from 1 to 10. All numbers are equally likely. The number depends
 * only on the seed and the round, so it can be verified with the seed: it is the first 8 hex digits of SHA-256 over
 * "<seed>/round/<round>/<attempt>", modulo 10, plus 1. Attempts count from 0 until the value is below 4294967290, the
 * greatest multiple of ten, so that no number is more likely than another.
 */
export function drawnNumber(seed: string, round: number): number {
  for (let attempt = 0; ; attempt++) {
    const value = Number.parseInt(sha256Hex(`${seed}/round/${round}/${attempt}`).slice(0, 8), 16);
    if (value < 4_294_967_290) return (value % 10) + 1;
  }
}

/** Returns the only role that has guessed the parity; null if both or neither have. */
function onlyRightRole(choices: EvenOddRound["choices"], parity: Seat): Seat | null {
  const rightRoles = ROLES.filter((seat) => choices[seat] === parity.toLowerCase());
  return rightRoles.length === 1 ? (rightRoles[0] ?? null) : null;
}

const withPoint = (scores: Scores, winner: Seat | null): Scores =>
  winner === null ? scores : { ...scores, [winner]: scores[winner] + 1 };

const reasonOf = ({ scores }: EvenOddState): string => (scores.ODD === scores.EVEN ? "draw" : "rounds_won");

/** Computes the scores backwards from the last round, because callers usually need only the last round. */
function summaries({ variant, previous_rounds, scores: last }: EvenOddState, from = 0): readonly RoundSummary[] {
  const found: RoundSummary[] = [];
  let scores = last;
  for (const { round, choices: moves, number, parity, winner } of previous_rounds.slice(from).reverse()) {
    const facts =
      variant === "sum"
        ? { sum: number, sum_type: parity }
        : { drawn_number: number, number_parity: parity.toLowerCase() };
    found.push({ round, moves, winner, scores, facts });
    scores = winner === null ? scores : { ...scores, [winner]: scores[winner] - 1 };
  }
  return found.reverse();
}

const visible = (choices: Choices, viewer: Viewer): Choices => ({
  ODD: viewer === "ODD" ? choices.ODD : null,
  EVEN: viewer === "EVEN" ? choices.EVEN : null,
});

function textOf(view: EvenOddView): string {
  const numberName = view.variant === "sum" ? "sum" : "number drawn";
  const lines = view.previous_rounds.map(
    ({ round, choices, number, winner }) =>
      `Round ${round}: ODD chose ${choices.ODD}, EVEN chose ${choices.EVEN}, ${numberName} ${number}: ${winner ?? "draw"}`,
  );
  const score = `Score: ODD ${view.scores.ODD}, EVEN ${view.scores.EVEN}`;
  if (view.phase === "FINISHED") return [...lines, `${score}. The game is over.`].join("\n");
  const chosen = ROLES.flatMap((seat) =>
    view.choices[seat] === null ? [] : [`${seat} has chosen ${view.choices[seat]}`],
  );
  const prompt = `Round ${view.round} of at most ${view.max_rounds}: choose ${LEGAL[view.variant].join(", ")}.`;
  return [...lines, score, prompt, ...chosen].join("\n");
}
