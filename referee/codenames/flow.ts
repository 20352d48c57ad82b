import { z } from "zod";
import { BOARD_SIZE, BoardWord, type CodenamesAction, type CodenamesView } from "#shared/games/codenames.ts";
import { fold } from "#shared/games/codenames-clues.ts";
import type { Said } from "#shared/rpc/input.ts";

export const playerTypes = ["user", "llm"] as const;
/** A person who fills in forms, or the caller's model that answers prompts. */
export type PlayerType = (typeof playerTypes)[number];

/**
 * What is asked of the role that is to act: `continue` is the decision to go on guessing, apart from the guess; `leave` is what a person
 * is asked who has declined or cancelled.
 */
export type Stage = "clue" | "guess" | "continue" | "leave";

/** The question that a game waits for. It is kept beside the log, so that a call that was cut is gone on with exactly there. */
export interface Pending {
  readonly tick: number;
  readonly stage: Stage;
  /** 1 to MAX_ATTEMPTS, at this tick. */
  readonly attempt: number;
  /** What was wrong with the last answer. */
  readonly problem: string | null;
}

/** What an answer leads to. */
export type Step =
  | { readonly kind: "act"; readonly action: CodenamesAction }
  | { readonly kind: "ask"; readonly pending: Pending }
  | { readonly kind: "end" };

export const MAX_ATTEMPTS = 3;

/** The question at a session's tick, for the first time. */
export function firstPending(view: CodenamesView, tick: number): Pending {
  const isOnTheWay = view.phase === "guess" && (view.turns.at(-1)?.guesses.length ?? 0) > 0;
  const stage = view.phase === "clue" ? "clue" : isOnTheWay ? "continue" : "guess";
  return { tick, stage, attempt: 1, problem: null };
}

/** The next attempt, or the turn is given up, and the log says why. */
export function again(pending: Pending, stage: Stage, problem: string): Step {
  const { tick, attempt } = pending;
  if (attempt < MAX_ATTEMPTS) return { kind: "ask", pending: { tick, stage, attempt: attempt + 1, problem } };
  const reason = `no usable answer in ${MAX_ATTEMPTS} attempts; the last: ${problem}`.slice(0, 300);
  return { kind: "act", action: { type: "skip", reason } };
}

/** What a role's answer means. Whether a clue or a guess is legal, the session says. */
export function stepOf(view: CodenamesView, pending: Pending, said: Said): Step {
  if (pending.stage === "leave") return afterLeaving(view, pending, said);
  if (said.kind === "form" && said.action !== "accept") {
    return { kind: "ask", pending: { ...pending, stage: "leave", problem: null } };
  }
  const answer = answerIn(said, pending.stage);
  return "problem" in answer ? again(pending, pending.stage, answer.problem) : taken(pending, answer);
}

function taken(pending: Pending, answer: Answer): Step {
  if (!("goOn" in answer)) return { kind: "act", action: answer };
  if (!answer.goOn) return { kind: "act", action: { type: "pass" } };
  return { kind: "ask", pending: { tick: pending.tick, stage: "guess", attempt: 1, problem: null } };
}

/** A person that has left a form either ends the game or is asked once more; one who says nothing of it counts as an attempt. */
function afterLeaving(view: CodenamesView, pending: Pending, said: Said): Step {
  const wantsEnd = said.kind === "form" && said.action === "accept" && said.content.go_on === false;
  if (wantsEnd) return { kind: "end" };
  return again(pending, firstPending(view, pending.tick).stage, "the form was left");
}

type Answer = CodenamesAction | { readonly goOn: boolean };

const number = z.union([z.int().min(0).max(9), z.literal("unlimited")]);
const FORMS = {
  clue: z.object({ word: z.string(), number: z.union([number, z.string().regex(/^\d$/).transform(Number)]) }),
  guess: z.object({ word: z.string() }),
  continue: z.object({ go_on: z.boolean() }),
};
const TEXTS = {
  clue: z.strictObject({ clue: z.string(), number }),
  guess: z.strictObject({ guess: z.string() }),
  continue: z.strictObject({ continue: z.boolean() }),
};
/** How a model is to answer, and nothing besides. */
export const FORMATS = {
  clue: '{"clue": "WORD", "number": 2}',
  guess: '{"guess": "WORD"}',
  continue: '{"continue": true}',
} as const;

function answerIn(said: Said, stage: Exclude<Stage, "leave">): Answer | { readonly problem: string } {
  if (said.kind === "failed") return { problem: `no answer came: ${said.why}` };
  if (said.kind === "form") {
    const form = FORMS[stage].safeParse(said.content);
    return form.success ? actionOf(stage, form.data) : { problem: "the form was not filled in as asked" };
  }
  const text = TEXTS[stage].safeParse(jsonIn(said.text));
  if (!text.success) return { problem: `answer with ${FORMATS[stage]} alone, without a word around it` };
  return actionOf(stage, text.data);
}

function actionOf(stage: Exclude<Stage, "leave">, answer: Readonly<Record<string, unknown>>): Answer {
  switch (stage) {
    case "clue":
      return { type: "clue", word: String(answer.word ?? answer.clue), number: answer.number as number | "unlimited" };
    case "guess":
      return { type: "guess", word: String(answer.word ?? answer.guess) };
    case "continue":
      return { goOn: (answer.go_on ?? answer.continue) === true };
  }
}

/** JSON that is all of a text, or all of its one code block; undefined for anything else. */
function jsonIn(text: string): unknown {
  const [, fenced] = /^```(?:json)?\s*([\s\S]*?)\s*```$/.exec(text.trim()) ?? [];
  try {
    return JSON.parse(fenced ?? text);
  } catch {
    return undefined;
  }
}

/** The words for a board out of what a person typed or a model wrote, or what is wrong with them. */
export function wordsIn(said: Said): { readonly words: readonly string[] } | { readonly problem: string } {
  if (said.kind === "failed") return { problem: `no answer came: ${said.why}` };
  const given = said.kind === "form" ? said.content.words : jsonIn(said.text);
  const list = typeof given === "string" ? given.split(/[,;\n]/) : Array.isArray(given) ? given : null;
  if (!list) return { problem: `give a list of ${BOARD_SIZE} words and nothing else` };
  const words = list.map((word) => String(word).trim()).filter((word) => word !== "");
  const parsed = z.array(BoardWord).safeParse(words);
  if (!parsed.success)
    return { problem: `each word has letters, at most 30: ${words[Number(parsed.error.issues[0]?.path[0])]}` };
  const unique = [...new Map(parsed.data.map((word) => [fold(word), word])).values()];
  if (unique.length < BOARD_SIZE)
    return { problem: `${BOARD_SIZE} different words are needed, these are ${unique.length}` };
  return { words: unique.slice(0, BOARD_SIZE) };
}
