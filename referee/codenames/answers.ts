import { z } from "zod";
import { BOARD_SIZE, BoardWord } from "#shared/games/codenames.ts";
import { fold } from "#shared/games/codenames-clues.ts";
import type { CodenamesAction, SkipReason } from "#shared/games/codenames-view.ts";
import { cutTo, jsonOf, parsedJson } from "#shared/lib/text.ts";
import { readWritten, type ValueSchema } from "#shared/lib/written-values.ts";
import type { CallerAnswer } from "#shared/rpc/jsonrpc/caller-input.ts";

/** The questions that a role answers. */
export type Question = "clue" | "guess" | "continue";

/** The rejection of an answer: a text for its author, and a code for the log of the session, which is public. */
export interface Problem {
  readonly problem: string;
  readonly reason: SkipReason;
}

/** A valid answer: an action, or whether to guess again. */
export type RoleAnswer = CodenamesAction | { readonly goOn: boolean };

/** The format of the answer of a model to each question. */
export const FORMATS: Readonly<Record<Question, string>> = {
  clue: '{"clue": "WORD", "number": 2}',
  guess: '{"guess": "WORD"}',
  continue: '{"continue": true} or {"continue": false}',
};

/** The maximum length of an answer, in characters. */
const MAX_TEXT = 10_000;
/** The number of characters of a rejected value that its author is shown. */
const MAX_SHOWN = 40;

/** Parses the form of a person or the text of a model. Whether the clue or guess is legal is decided by the session. */
export function answerIn(reply: CallerAnswer, question: Question, type: "user" | "llm"): RoleAnswer | Problem {
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
