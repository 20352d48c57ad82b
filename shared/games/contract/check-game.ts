import { messageOf } from "../../lib/result.ts";
import type { Game } from "../game.ts";
import { ACTION_OBLIGATIONS } from "./action-obligations.ts";
import { BOARD_OBLIGATION } from "./board-obligations.ts";
import { GAME_OBLIGATIONS } from "./game-obligations.ts";
import { type Evidence, type Obligation, type Subject, Violation } from "./obligation.ts";
import { GameThrew, observed } from "./observed.ts";
import { playVariants, type Trace } from "./play.ts";
import { STATE_OBLIGATIONS } from "./state-obligations.ts";
import { VIEW_OBLIGATIONS } from "./view-obligations.ts";

/** The obligation to play to the end. The other obligations are checked on the games that it has played. */
const PLAYS: Omit<Obligation, "check"> = {
  id: "plays",
  title: "plays random games to the end within maxActions, and accepts the actions that it lists",
  advice: "check that each listed action leads closer to the end, and that maxActions is an upper bound",
};

export const OBLIGATIONS: readonly Obligation[] = [
  ...GAME_OBLIGATIONS,
  ...STATE_OBLIGATIONS,
  ...ACTION_OBLIGATIONS,
  ...VIEW_OBLIGATIONS,
  BOARD_OBLIGATION,
];

/** A violation of an obligation, in words, with the values that show it. */
export interface Failure {
  readonly problem: string;
  readonly advice: string;
  readonly evidence: Evidence;
  /** The value that a function of the game threw. */
  readonly thrown?: unknown;
}

export interface Checked {
  readonly id: string;
  readonly title: string;
  /** `skipped`: the random games that the check needs could not be played. */
  readonly status: "kept" | "violated" | "skipped";
  readonly failure: Failure | null;
}

export interface GameReport {
  /** The numbers of random games and of their actions. */
  readonly games: number;
  readonly actions: number;
  readonly obligations: readonly Checked[];
}

const PURITY =
  "return a new object instead, e.g. { ...state, turn: other }: states, options and actions must not change";

/** Returns what a check has thrown as a failure. */
export function failureOf(thrown: unknown, { advice }: Pick<Obligation, "advice">): Failure {
  if (thrown instanceof Violation)
    return { problem: thrown.message, advice: thrown.advice ?? advice, evidence: thrown.evidence };
  if (!(thrown instanceof GameThrew)) return { problem: messageOf(thrown), advice, evidence: {}, thrown };
  const { call, evidence, isMutation } = thrown;
  const problem = isMutation ? `${call} changes one of its arguments: ${messageOf(thrown.thrown)}` : thrown.message;
  const fix = `${call} must not throw: check its arguments before you use them`;
  return { problem, advice: isMutation ? PURITY : fix, evidence, thrown: thrown.thrown };
}

function checkOne(obligation: Obligation, subject: Subject): Checked {
  const { id, title } = obligation;
  try {
    obligation.check(subject);
    return { id, title, status: "kept", failure: null };
  } catch (thrown) {
    return { id, title, status: "violated", failure: failureOf(thrown, obligation) };
  }
}

/**
 * Checks the obligations of `Game` on random games with each of the options. The same game gives the same report. The
 * shape of the game must be correct (`shape.ts`).
 */
export function checkGame(given: Game, variants: readonly unknown[]): GameReport {
  const game = observed(given);
  const relevant = OBLIGATIONS.filter(({ applies }) => applies?.(game) !== false);
  let traces: readonly Trace[] = [];
  let plays: Checked = { ...PLAYS, status: "kept", failure: null };
  try {
    traces = playVariants(game, variants);
  } catch (thrown) {
    plays = { ...PLAYS, status: "violated", failure: failureOf(thrown, PLAYS) };
  }
  const subject = { game, variants, traces };
  const others = relevant.map((obligation): Checked => {
    if (plays.failure === null || obligation.needsNoTraces) return checkOne(obligation, subject);
    return { id: obligation.id, title: obligation.title, status: "skipped", failure: null };
  });
  const actions = traces.reduce((sum, { steps }) => sum + steps.length, 0);
  const obligations = [plays, ...others].map(({ id, title, status, failure }) => ({ id, title, status, failure }));
  return { games: traces.length, actions, obligations };
}
