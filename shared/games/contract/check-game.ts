import type { Game } from "#shared/games/game.ts";
import { messageOf } from "../../lib/result.ts";
import { ACTION_OBLIGATIONS } from "./action-obligations.ts";
import { GAME_OBLIGATIONS, STATE_OBLIGATIONS } from "./game-obligations.ts";
import {
  type Evidence,
  GameThrew,
  type Obligation,
  observed,
  playVariants,
  type Subject,
  type Trace,
  Violation,
  WrongValue,
} from "./obligation.ts";
import { BOARD_OBLIGATION, VIEW_OBLIGATIONS } from "./view-obligations.ts";

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
  /**
   * `skipped`: the random games that the check needs could not be played, or a function of the game made the check fail in
   * the way in which it made an earlier check fail.
   */
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
function failureOf(thrown: unknown, { advice }: Pick<Obligation, "advice">): Failure {
  if (thrown instanceof Violation)
    return { problem: thrown.message, advice: thrown.advice ?? advice, evidence: thrown.evidence };
  if (!(thrown instanceof GameThrew)) return { problem: messageOf(thrown), advice, evidence: {}, thrown };
  const { call, evidence, isMutation } = thrown;
  const problem = isMutation ? `${call} changes one of its arguments: ${messageOf(thrown.thrown)}` : thrown.message;
  const fix = `${call} must not throw: check its arguments before you use them`;
  return { problem, advice: isMutation ? PURITY : fix, evidence, thrown: thrown.thrown };
}

/** Returns the call of the game that made a check fail; null if the check itself found the violation. */
function failedCall(thrown: unknown): string | null {
  if (thrown instanceof GameThrew) return thrown.place;
  return thrown instanceof WrongValue ? thrown.message : null;
}

/** Checks one obligation. `failedCalls` are those that are already reported; the call of a new report is added. */
function checkOne(obligation: Obligation, subject: Subject, failedCalls: Set<string>): Checked {
  const { id, title } = obligation;
  try {
    obligation.check(subject);
    return { id, title, status: "kept", failure: null };
  } catch (thrown) {
    const call = failedCall(thrown);
    if (call !== null && failedCalls.has(call)) return { id, title, status: "skipped", failure: null };
    if (call !== null) failedCalls.add(call);
    return { id, title, status: "violated", failure: failureOf(thrown, obligation) };
  }
}

/**
 * Checks the obligations of `Game`, and `more` obligations, on random games with each of the options. The same game gives
 * the same report. The shape of the game must be correct (`shape.ts`).
 */
export function checkGame(given: Game, variants: readonly unknown[], more: readonly Obligation[] = []): GameReport {
  const game = observed(given);
  const relevant = [...OBLIGATIONS, ...more].filter(({ applies }) => applies?.(game) !== false);
  let traces: readonly Trace[] = [];
  let plays: Checked = { ...PLAYS, status: "kept", failure: null };
  try {
    traces = playVariants(game, variants);
  } catch (thrown) {
    plays = { ...PLAYS, status: "violated", failure: failureOf(thrown, PLAYS) };
  }
  const subject = { game, variants, traces };
  const failedCalls = new Set<string>();
  const others = relevant.map((obligation): Checked => {
    if (plays.failure === null || obligation.needsNoTraces) return checkOne(obligation, subject, failedCalls);
    return { id: obligation.id, title: obligation.title, status: "skipped", failure: null };
  });
  const actions = traces.reduce((sum, { steps }) => sum + steps.length, 0);
  const obligations = [plays, ...others].map(({ id, title, status, failure }) => ({ id, title, status, failure }));
  return { games: traces.length, actions, obligations };
}
