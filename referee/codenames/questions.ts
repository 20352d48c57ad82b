import { z } from "zod";
import { BOARD_SIZE, BoardWord, codenames } from "#shared/games/codenames.ts";
import { fold } from "#shared/games/codenames-clues.ts";
import {
  type CodenamesAction,
  type CodenamesState,
  type CodenamesView,
  type SkipReason,
  skipInWords,
} from "#shared/games/codenames-view.ts";
import type { Role } from "#shared/games/game.ts";
import { cutTo, jsonOf, parsedJson } from "#shared/lib/text.ts";
import { readWritten, type ValueSchema } from "#shared/lib/written-values.ts";
import type { CallerAnswer, CallerQuestion } from "#shared/rpc/jsonrpc/caller-input.ts";

const NUMBERS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "unlimited"] as const;
/** Enough for a short answer. An answer with reasoning is cut off. */
const MAX_TOKENS = 500;
const MAX_TOKENS_FOR_WORDS = 1_000;

/** Returns the question to a role. It is made from the view of that role only. */
export function questionFor(
  view: CodenamesView,
  role: Role,
  type: PlayerType,
  pending: Pending,
  link: string | null,
): CallerQuestion {
  const { stage, problem, attempt } = pending;
  const wrong = problem === null ? [] : [`Your last answer was rejected (now attempt ${attempt}): ${problem}`];
  const situation = [
    ...wrong,
    `You are ${spoken(role)}.`,
    codenames.toText(view as CodenamesState, role),
    history(view),
  ].filter(Boolean);
  if (type === "llm") {
    return {
      kind: "prompt",
      system: codenames.info.rules,
      text: [
        ...situation,
        TASKS[stage],
        `Answer only with JSON, without other text: ${FORMATS[stage as keyof typeof FORMATS]}`,
      ].join("\n\n"),
      maxTokens: MAX_TOKENS,
    };
  }
  const page = stage === "clue" && link ? [`You can also answer on this page: ${link}`] : [];
  return { kind: "form", message: [...situation, ...page, TASKS[stage]].join("\n\n"), fields: fieldsFor(view, stage) };
}

const TASKS: Readonly<Record<Stage, string>> = {
  clue: "Give your team a clue: one word, and the number of words on the board that it refers to (0 and unlimited allow any number of guesses).",
  guess: "Guess one word.",
  continue: "That was right. Do you want to guess another word, or to stop here?",
  leave: "You have left the form. Do you want to continue the game?",
};

function fieldsFor({ cards }: CodenamesView, stage: Stage): Extract<CallerQuestion, { kind: "form" }>["fields"] {
  switch (stage) {
    case "clue":
      return { word: { type: "string", title: "Clue" }, number: { type: "string", title: "Number", enum: NUMBERS } };
    case "guess":
      return {
        word: {
          type: "string",
          title: "Your guess",
          enum: cards.flatMap(({ word, uncovered }) => (uncovered ? [] : [word])),
        },
      };
    case "continue":
      return { go_on: { type: "boolean", title: "Guess again", description: "no: your turn ends here" } };
    case "leave":
      return { go_on: { type: "boolean", title: "Continue the game", description: "no: the game ends" } };
  }
}

/** The turns so far as text. */
export function history({ turns }: Pick<CodenamesView, "turns">): string {
  const lines = turns.flatMap(({ team, clue, guesses, skipped }) => {
    const clueText = clue ? `${clue.word} ${clue.number}` : "no clue";
    const found = guesses.map(({ word, identity }) => `${word} was ${identity}`).join(", ");
    return clue || skipped !== null
      ? [
          `${team}: ${clueText}${found && ` – ${found}`}${skipped === null ? "" : ` – turn given up (${skipInWords[skipped]})`}`,
        ]
      : [];
  });
  return lines.length === 0 ? "" : `So far:\n${lines.join("\n")}`;
}

const spoken = (role: Role): string => {
  const [team, part] = role.split("_", 2);
  return part === "spymaster" ? `the spymaster of team ${team}` : `the guessing team ${team}`;
};

export const sources = ["built-in", "own", "llm"] as const;
export type Source = (typeof sources)[number];

const SOURCE_TEXTS: Readonly<Record<Source, string>> = {
  "built-in": "chosen from the list of this server",
  own: "you enter them",
  llm: "the model chooses them",
};

/** The question about the source of the words. */
export const askForSource = (offered: readonly Source[], problem: string | null): CallerQuestion => ({
  kind: "form",
  message: [
    ...(problem === null ? [] : [problem]),
    `Which ${BOARD_SIZE} words should be used? ${offered.map((source) => `${source}: ${SOURCE_TEXTS[source]}`).join("; ")}.`,
  ].join("\n\n"),
  fields: { source: { type: "string", title: "Words", enum: offered } },
});

/** The question whether to play with the built-in words after the words of a person could not be used. */
export const askForBuiltIn = (problem: string): CallerQuestion => ({
  kind: "form",
  message: `Your own words cannot be used: ${problem}.\n\nDo you want to play with the built-in words?`,
  fields: { go_on: { type: "boolean", title: "Play with the built-in words", description: "no: no game is created" } },
});

/** The question for the words, to a person or to the model. */
export const askForWords = (by: "own" | "llm", problem: string | null): CallerQuestion =>
  by === "own"
    ? {
        kind: "form",
        message: [problem, `Enter ${BOARD_SIZE} words, separated by commas.`].filter(Boolean).join("\n\n"),
        fields: { words: { type: "string", title: "Words" } },
      }
    : {
        kind: "prompt",
        system: "You choose the words for a game of Codenames.",
        text: [
          problem && `Your last answer was rejected: ${problem}`,
          `Give ${BOARD_SIZE} different common nouns, each one word, concrete and well known. Answer only with a JSON array of strings, without other text.`,
        ]
          .filter(Boolean)
          .join("\n\n"),
        maxTokens: MAX_TOKENS_FOR_WORDS,
      };

/** The questions that a role answers. */
type Question = "clue" | "guess" | "continue";

/** The rejection of an answer: a text for its author, and a code for the log of the session, which is public. */
interface Problem {
  readonly problem: string;
  readonly reason: SkipReason;
}

/** A valid answer: an action, or whether to guess again. */
type RoleAnswer = CodenamesAction | { readonly goOn: boolean };

/** The format of the answer of a model to each question. */
const FORMATS: Readonly<Record<Question, string>> = {
  clue: '{"clue": "WORD", "number": 2}',
  guess: '{"guess": "WORD"}',
  continue: '{"continue": true} or {"continue": false}',
};

/** The maximum length of an answer, in characters. */
const MAX_TEXT = 10_000;
/** The number of characters of a rejected value that its author is shown. */
const MAX_SHOWN = 40;

/** Parses the form of a person or the text of a model. Whether the clue or guess is legal is decided by the session. */
function answerIn(reply: CallerAnswer, question: Question, type: "user" | "llm"): RoleAnswer | Problem {
  if (reply.kind === "failed") return { problem: `no answer: ${reply.reason}`, reason: "no_answer" };
  if (type === "user") {
    const form = parseWritten(FORMS[question], reply.kind === "form" ? reply.content : null);
    return form.success ? actionOf(question, form.data) : notAsAsked("the form was not completed as requested");
  }
  const found = valueIn(reply.kind === "text" ? reply.text : "", "object", FIELDS[question][0]?.name);
  const fields = "problem" in found ? found : readFields(found.value as object, FIELDS[question]);
  if ("problem" in fields) return notAsAsked(`${fields.problem}; answer with ${FORMATS[question]}`);
  return actionOf(question, fields.read);
}

const notAsAsked = (problem: string): Problem => ({ problem, reason: "not_as_asked" });

/** Parses a value in which a number, true or false may be a text. */
const parseWritten = <T>(schema: z.ZodType<T>, value: unknown) =>
  schema.safeParse(readWritten(z.toJSONSchema(schema) as ValueSchema, value));

const number = z.union([z.int().min(0).max(9), z.literal("unlimited")]);
const FORMS: Readonly<Record<Question, z.ZodType<Readonly<Record<string, unknown>>>>> = {
  clue: z.object({ word: z.string(), number }),
  guess: z.object({ word: z.string() }),
  continue: z.object({ go_on: z.boolean() }),
};

interface Field {
  readonly name: string;
  readonly values: z.ZodType;
  readonly must: string;
}
const word = { values: z.string(), must: "one word" };
const FIELDS: Readonly<Record<Question, readonly Field[]>> = {
  clue: [
    { name: "clue", ...word },
    {
      name: "number",
      values: number,
      must: 'a number from 0 to 9, or "unlimited"',
    },
  ],
  guess: [{ name: "guess", ...word }],
  continue: [
    {
      name: "continue",
      values: z.boolean(),
      must: "true or false",
    },
  ],
};

/** Reads the fields of the object of a model. Additional keys are ignored. */
function readFields(value: object, fields: readonly Field[]): { read: Readonly<Record<string, unknown>> } | Fault {
  const read: Record<string, unknown> = {};
  for (const { name, values, must } of fields) {
    if (!Object.hasOwn(value, name)) return { problem: `your JSON object has no "${name}"` };
    const given: unknown = Reflect.get(value, name);
    const parsed = parseWritten(values, given);
    if (!parsed.success) return { problem: `"${name}" must be ${must}, not ${cutTo(MAX_SHOWN, jsonOf(given))}` };
    read[name] = parsed.data;
  }
  return { read };
}

/** Returns the answer in a form or an object. The fields of forms and objects have different names. */
function actionOf(question: Question, answer: Readonly<Record<string, unknown>>): RoleAnswer {
  switch (question) {
    case "clue":
      return { type: "clue", word: String(answer.word ?? answer.clue), number: answer.number as number | "unlimited" };
    case "guess":
      return { type: "guess", word: String(answer.word ?? answer.guess) };
    case "continue":
      return { goOn: (answer.go_on ?? answer.continue) === true };
  }
}

interface Fault {
  readonly problem: string;
}

const NAMES = { object: "JSON object", array: "JSON list" } as const;
const OPENING = { object: "{", array: "[" } as const;

/** Finds the only JSON value of this kind in a text that may contain other words. Among several objects, the only one with the key `name` is taken. */
function valueIn(text: string, kind: keyof typeof NAMES, name?: string): { readonly value: unknown } | Fault {
  if (text.length > MAX_TEXT) return { problem: `your answer is longer than ${MAX_TEXT} characters` };
  const isKind = (value: unknown): value is object =>
    typeof value === "object" && value !== null && Array.isArray(value) === (kind === "array");
  const whole = parsedJson(text.trim());
  if (isKind(whole)) return { value: whole };
  if (whole !== undefined) return { problem: `your answer is not a ${NAMES[kind]}` };
  const found = balancedIn(text, OPENING[kind]).map(parsedJson).filter(isKind);
  const named = found.filter((value) => name !== undefined && Object.hasOwn(value, name));
  const [value, another] = found.length > 1 ? named : found;
  if (value !== undefined && another === undefined) return { value };
  if (found.length === 0) return { problem: `your answer contains no valid ${NAMES[kind]}` };
  return { problem: `your answer contains ${found.length} ${NAMES[kind]}s instead of one` };
}

/** The maximum number of opening brackets that are tried. Each one may need a scan to the end of the text. */
const MAX_OPENINGS = 20;

/** The outermost parts of a text from an opening bracket to its closing bracket. */
function balancedIn(text: string, opening: "{" | "["): readonly string[] {
  const parts: string[] = [];
  let begin = text.indexOf(opening);
  for (let tries = 0; begin !== -1 && tries < MAX_OPENINGS; tries++) {
    const end = closingOf(text, begin);
    if (end !== -1) parts.push(text.slice(begin, end + 1));
    begin = text.indexOf(opening, end === -1 ? begin + 1 : end + 1);
  }
  return parts;
}

/** The index at which the bracket at `begin` closes, or -1. Brackets in JSON strings do not count. */
function closingOf(text: string, begin: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = begin; at < text.length; at++) {
    const character = text[at];
    if (isInString && character === "\\") at++;
    else if (character === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return at;
  }
  return -1;
}

/** Parses the words for a board from the form of a person or the text of a model. */
export function wordsIn(reply: CallerAnswer): { readonly words: readonly string[] } | Fault {
  if (reply.kind === "failed") return { problem: `no answer: ${reply.reason}` };
  const given = reply.kind === "form" ? listIn(reply.content.words) : valueIn(reply.text, "array");
  if ("problem" in given) return given;
  const list = z.array(z.string()).safeParse(given.value);
  if (!list.success) return { problem: `give a list of ${BOARD_SIZE} words and nothing else` };
  const words = list.data.map((word) => word.trim()).filter((word) => word !== "");
  const bad = words.find((word) => !BoardWord.safeParse(word).success);
  if (bad !== undefined) return { problem: `each word has letters, at most 30: ${bad.slice(0, MAX_SHOWN)}` };
  const unique = [...new Map(words.map((word) => BoardWord.parse(word)).map((word) => [fold(word), word])).values()];
  if (unique.length < BOARD_SIZE)
    return { problem: `${BOARD_SIZE} different words are needed, these are ${unique.length}` };
  return { words: unique.slice(0, BOARD_SIZE) };
}

/** Splits the text of a person at commas, semicolons and line ends. */
const listIn = (given: unknown): { readonly value: unknown } => ({
  value: typeof given === "string" && given.length <= MAX_TEXT ? given.split(/[,;\n]/) : given,
});

export const playerTypes = ["user", "llm"] as const;
/** A person who fills in forms, or the caller's model that answers prompts. */
export type PlayerType = (typeof playerTypes)[number];

/**
 * The kind of a question to the role that is to act. `continue` asks whether to guess again. `leave` asks a person who has declined or
 * cancelled a form whether to continue the game.
 */
type Stage = Question | "leave";

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
