import { z } from "zod";
import {
  BOARD_SIZE,
  BoardWord,
  type CodenamesAction,
  type CodenamesView,
  type SkipReason,
} from "#shared/games/codenames.ts";
import { fold } from "#shared/games/codenames-clues.ts";
import { parsedJson } from "#shared/lib/text.ts";
import type { Said } from "#shared/rpc/input.ts";

export const playerTypes = ["user", "llm"] as const;
/** A person who fills in forms, or the caller's model that answers prompts. */
export type PlayerType = (typeof playerTypes)[number];

/**
 * What is asked of the role that is to act: `continue` is the decision to go on guessing, apart from the guess; `leave` is what a person
 * is asked who has declined or cancelled.
 */
export type Stage = Question | "leave";
type Question = "clue" | "guess" | "continue";

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

/** What is wrong with an answer: in words for whoever gave it, and for the log, which everybody may read. */
export interface Problem {
  readonly problem: string;
  readonly reason: SkipReason;
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
export function again({ tick, attempt }: Pending, stage: Question, { problem, reason }: Problem): Step {
  if (attempt < MAX_ATTEMPTS) return { kind: "ask", pending: { tick, stage, attempt: attempt + 1, problem } };
  return { kind: "act", action: { type: "skip", reason } };
}

/** What the answer of a role of this type means. Whether a clue or a guess is legal, the session says. */
export function stepOf(pending: Pending, said: Said, type: PlayerType): Step {
  const { stage } = pending;
  if (stage === "leave") return afterLeaving(pending, said);
  if (type === "user" && said.kind === "form" && said.action !== "accept") {
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

function answerIn(said: Said, stage: Question, type: PlayerType): Answer | Problem {
  const reason = "not_as_asked";
  if (said.kind === "failed") return { problem: `no answer came: ${said.why}`, reason: "no_answer" };
  if (type === "user") {
    const form = FORMS[stage].safeParse(said.kind === "form" ? said.content : null);
    return form.success ? actionOf(stage, form.data) : { problem: "the form was not filled in as asked", reason };
  }
  const text = TEXTS[stage].safeParse(said.kind === "text" ? jsonIn(said.text) : null);
  if (!text.success) return { problem: `answer with ${FORMATS[stage]} alone, without a word around it`, reason };
  return actionOf(stage, text.data);
}

function actionOf(stage: Question, answer: Readonly<Record<string, unknown>>): Answer {
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
  if (text.length > MAX_TEXT) return undefined;
  const whole = text.trim();
  // No regular expression: over a long run of spaces that one here took minutes.
  const isFenced = whole.length > 2 * FENCE.length && whole.startsWith(FENCE) && whole.endsWith(FENCE);
  const inside = isFenced ? whole.slice(FENCE.length, -FENCE.length).replace(/^json/, "") : whole;
  return parsedJson(inside);
}

const FENCE = "```";
/** Characters; nothing that is asked needs more. */
const MAX_TEXT = 10_000;

/** The words for a board out of what a person typed or a model wrote, or what is wrong with them. */
export function wordsIn(said: Said): { readonly words: readonly string[] } | { readonly problem: string } {
  if (said.kind === "failed") return { problem: `no answer came: ${said.why}` };
  const given = said.kind === "form" ? listIn(said.content.words) : jsonIn(said.text);
  const list = z.array(z.string()).safeParse(given);
  if (!list.success) return { problem: `give a list of ${BOARD_SIZE} words and nothing else` };
  const words = list.data.map((word) => word.trim()).filter((word) => word !== "");
  const bad = words.find((word) => !BoardWord.safeParse(word).success);
  if (bad !== undefined) return { problem: `each word has letters, at most 30: ${bad.slice(0, MAX_SHOWN)}` };
  const unique = [...new Map(words.map((word) => BoardWord.parse(word)).map((word) => [fold(word), word])).values()];
  if (unique.length < BOARD_SIZE)
    return { problem: `${BOARD_SIZE} different words are needed, these are ${unique.length}` };
  return { words: unique.slice(0, BOARD_SIZE) };
}

/** So much of a bad word is told back, characters. */
const MAX_SHOWN = 40;

/** What a person typed with commas, semicolons or lines between the words. */
const listIn = (given: unknown): unknown =>
  typeof given === "string" && given.length <= MAX_TEXT ? given.split(/[,;\n]/) : given;
