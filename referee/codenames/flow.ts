import type { CodenamesAction, CodenamesView } from "#shared/games/codenames-view.ts";
import type { CallerAnswer } from "#shared/rpc/jsonrpc/caller-input.ts";
import { answerIn, type Problem, type Question, type RoleAnswer } from "./answers.ts";

export const playerTypes = ["user", "llm"] as const;
/** A person who fills in forms, or the caller's model that answers prompts. */
export type PlayerType = (typeof playerTypes)[number];

/**
 * The kind of a question to the role that is to act. `continue` asks whether to guess again. `leave` asks a person who has declined or
 * cancelled a form whether to continue the game.
 */
export type Stage = Question | "leave";

/** The open question of a game. It is stored in addition to the log, so that another call can continue an interrupted call at this question. */
export interface Pending {
  readonly tick: number;
  readonly stage: Stage;
  /** The number of the attempt at this question, from 1 to MAX_ATTEMPTS. */
  readonly attempt: number;
  /** The fault of the last answer, which only its author may see. */
  readonly problem: string | null;
  /** With `leave`: the question that was declined or cancelled, which is asked again if the game continues. */
  readonly left?: Question;
}

/** The result of an answer; `rejected` is present if the answer was rejected. */
export type Step = (
  | { readonly kind: "act"; readonly action: CodenamesAction }
  | { readonly kind: "ask"; readonly pending: Pending }
  | { readonly kind: "end" }
) & { readonly rejected?: Problem };

/** The number of attempts at a question. */
export const MAX_ATTEMPTS = 3;

/** Returns the first question at a tick of a session. */
export function firstPending(view: CodenamesView, tick: number): Pending {
  const hasGuessed = view.phase === "guess" && (view.turns.at(-1)?.guesses.length ?? 0) > 0;
  const stage = view.phase === "clue" ? "clue" : hasGuessed ? "continue" : "guess";
  return { tick, stage, attempt: 1, problem: null };
}

/** Returns the next attempt at a question, or after the last attempt the action that skips the turn with the reason. */
export function again({ tick, attempt }: Pending, stage: Question, rejected: Problem): Step {
  const { problem, reason } = rejected;
  if (attempt < MAX_ATTEMPTS) return { kind: "ask", pending: { tick, stage, attempt: attempt + 1, problem }, rejected };
  return { kind: "act", action: { type: "skip", reason }, rejected };
}

/** Returns the step that follows from the answer of a role. Whether a clue or guess is legal is decided by the session. */
export function stepOf(pending: Pending, reply: CallerAnswer, type: PlayerType): Step {
  const { stage } = pending;
  if (stage === "leave") return afterLeaving(pending, reply);
  if (type === "user" && reply.kind === "form" && reply.action !== "accept") {
    // Declining "Guess again?" means no. Cancelling it is not an answer.
    if (stage === "continue" && reply.action === "decline") return stepAfter(pending, { goOn: false });
    return { kind: "ask", pending: { ...pending, stage: "leave", problem: null, left: stage } };
  }
  const answer = answerIn(reply, stage, type);
  return "problem" in answer ? again(pending, stage, answer) : stepAfter(pending, answer);
}

function stepAfter(pending: Pending, answer: RoleAnswer): Step {
  if (!("goOn" in answer)) return { kind: "act", action: answer };
  if (!answer.goOn) return { kind: "act", action: { type: "pass" } };
  return { kind: "ask", pending: { tick: pending.tick, stage: "guess", attempt: 1, problem: null } };
}

/** The step after the question whether to continue: ends the game, or asks the earlier question again as the next attempt. */
function afterLeaving(pending: Pending, reply: CallerAnswer): Step {
  const wantsEnd = reply.kind === "form" && reply.action === "accept" && reply.content.go_on === false;
  if (wantsEnd) return { kind: "end" };
  return again(pending, pending.left ?? "clue", {
    problem: "the form was closed without an answer",
    reason: "form_left",
  });
}
