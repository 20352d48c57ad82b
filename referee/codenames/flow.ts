import type { CodenamesAction, CodenamesView } from "#shared/games/codenames.ts";
import type { Said } from "#shared/rpc/jsonrpc/input.ts";
import { type Answer, answerIn, type Problem, type Question } from "./answers.ts";

export const playerTypes = ["user", "llm"] as const;
/** A person who fills in forms, or the caller's model that answers prompts. */
export type PlayerType = (typeof playerTypes)[number];

/**
 * What is asked of the role that is to act: `continue` is the decision to go on guessing, apart from the guess; `leave` is what a person
 * is asked who has declined or cancelled.
 */
export type Stage = Question | "leave";

/** The question that a game waits for. It is kept beside the log, so that a call that was cut is gone on with exactly there. */
export interface Pending {
  readonly tick: number;
  readonly stage: Stage;
  /** 1 to MAX_ATTEMPTS, of this question. */
  readonly attempt: number;
  /** What was wrong with the last answer; told to whoever gave it and to nobody else. */
  readonly problem: string | null;
  /** With `leave`: the question that was left, to which its person may return. */
  readonly left?: Question;
}

/** The result of an answer; `rejected` is present if the answer was rejected. */
export type Step = (
  | { readonly kind: "act"; readonly action: CodenamesAction }
  | { readonly kind: "ask"; readonly pending: Pending }
  | { readonly kind: "end" }
) & { readonly rejected?: Problem };

export const MAX_ATTEMPTS = 3;

/** The question at a session's tick, for the first time. */
export function firstPending(view: CodenamesView, tick: number): Pending {
  const isOnTheWay = view.phase === "guess" && (view.turns.at(-1)?.guesses.length ?? 0) > 0;
  const stage = view.phase === "clue" ? "clue" : isOnTheWay ? "continue" : "guess";
  return { tick, stage, attempt: 1, problem: null };
}

/** The next attempt, or the turn is given up, and the log says why. */
export function again({ tick, attempt }: Pending, stage: Question, rejected: Problem): Step {
  const { problem, reason } = rejected;
  if (attempt < MAX_ATTEMPTS) return { kind: "ask", pending: { tick, stage, attempt: attempt + 1, problem }, rejected };
  return { kind: "act", action: { type: "skip", reason }, rejected };
}

/** What the answer of a role of this type means. Whether a clue or a guess is legal, the session says. */
export function stepOf(pending: Pending, said: Said, type: PlayerType): Step {
  const { stage } = pending;
  if (stage === "leave") return afterLeaving(pending, said);
  if (type === "user" && said.kind === "form" && said.action !== "accept") {
    // Declining "Guess again?" means no; cancelling it is no answer.
    if (stage === "continue" && said.action === "decline") return taken(pending, { goOn: false });
    return { kind: "ask", pending: { ...pending, stage: "leave", problem: null, left: stage } };
  }
  const answer = answerIn(said, stage, type);
  return "problem" in answer ? again(pending, stage, answer) : taken(pending, answer);
}

function taken(pending: Pending, answer: Answer): Step {
  if (!("goOn" in answer)) return { kind: "act", action: answer };
  if (!answer.goOn) return { kind: "act", action: { type: "pass" } };
  return { kind: "ask", pending: { tick: pending.tick, stage: "guess", attempt: 1, problem: null } };
}

/** A person that has left a form either ends the game or is asked once more; one who says nothing of it counts as an attempt. */
function afterLeaving(pending: Pending, said: Said): Step {
  const wantsEnd = said.kind === "form" && said.action === "accept" && said.content.go_on === false;
  if (wantsEnd) return { kind: "end" };
  return again(pending, pending.left ?? "clue", { problem: "the form was left", reason: "form_left" });
}
