import { type Logger, pino } from "pino";
import { rpcRequest } from "#shared/rpc/testing/json-rpc.ts";
import type { Form, FormAnswer, Prompt } from "./host.ts";
import { textOf } from "./host.ts";

const ROLES = ["red_spymaster", "red_team", "blue_spymaster", "blue_team"] as const;
type Players = Readonly<Record<(typeof ROLES)[number], "user" | "llm">>;
export const players = (bits: number): Players =>
  Object.fromEntries(ROLES.map((role, place) => [role, (bits >> place) & 1 ? "llm" : "user"])) as Players;
export const USERS = players(0);
export const MODELS = players(15);

/** A question to a person, by a form, or to the model, by a prompt. */
export interface AskedQuestion {
  readonly by: "form" | "prompt";
  readonly stage: "source" | "words" | "clue" | "guess" | "continue" | "leave";
  readonly text: string;
  /** The covered words if one of them is to be guessed; otherwise empty. */
  readonly words: readonly string[];
}

function formQuestion({ message, requestedSchema: { properties } }: Form): AskedQuestion {
  const words = properties.word?.enum ?? [];
  const stage = properties.source
    ? "source"
    : properties.words
      ? "words"
      : properties.number
        ? "clue"
        : properties.word
          ? "guess"
          : message.includes("left the form")
            ? "leave"
            : "continue";
  return { by: "form", stage, text: message, words };
}

function promptQuestion(prompt: Prompt): AskedQuestion {
  const text = textOf(prompt);
  const stages = { clue: '{"clue"', guess: '{"guess"', continue: '{"continue"' } as const;
  const [stage = "words" as const] = (["clue", "guess", "continue"] as const).filter((one) =>
    text.includes(stages[one]),
  );
  return { by: "prompt", stage, text, words: stage === "guess" ? coveredIn(text) : [] };
}

/** The covered words on the board in a prompt. Uncovered words are in brackets. */
function coveredIn(text: string): string[] {
  const rows = text.split("\n\n").find((part) => part.split("\n").length === 5) ?? "";
  return rows
    .split(/\n| {2,}/)
    .map((word) => word.trim())
    .filter((word) => word !== "" && !word.startsWith("["));
}

/** A clue that is not on any board. */
const unusualClue = (n: number): string => `ZXQ${"W".repeat(1 + (n % 20))}`;

/** The fields of a valid answer: an unusual clue, the first covered word, or another guess. */
function validFields({ stage, words }: AskedQuestion, n: number): Record<string, string | number | boolean> {
  switch (stage) {
    case "source":
      return { source: "built-in" };
    case "words":
      return { words: Array.from({ length: 25 }, (_, place) => String.fromCharCode(65 + place).repeat(4)).join(",") };
    case "clue":
      return { word: unusualClue(n), clue: unusualClue(n), number: 1 };
    case "guess":
      return { word: words[0] ?? "", guess: words[0] ?? "" };
    default:
      return { go_on: true, continue: true };
  }
}

export const accept = (content: Record<string, string | number | boolean>): FormAnswer => ({
  action: "accept",
  content,
});

/** The question with the words of the team first, which are read from the question to a spymaster, so that the game does not end early. */
export function withRightWords(asked: AskedQuestion, key: string): AskedQuestion {
  const [, team = ""] = /guessing team (red|blue)/.exec(asked.text) ?? [];
  const right = asked.words.filter((word) => key.includes(`${word} (${team})`));
  return { ...asked, words: [...right, ...asked.words] };
}

/** A valid answer to a form. */
export function formAnswer(asked: AskedQuestion, n: number): FormAnswer {
  const { word, number, source, words, go_on } = validFields(asked, n);
  const content = Object.entries({
    word,
    number: number === undefined ? undefined : String(number),
    source,
    words,
    go_on,
  });
  return accept(Object.fromEntries(content.filter(([, value]) => value !== undefined)) as Record<string, string>);
}
/** A valid answer to a prompt. */
export function textAnswer(asked: AskedQuestion, n: number): string {
  const fields = validFields(asked, n);
  if (asked.stage === "words") return JSON.stringify(String(fields.words).split(","));
  const { clue, number, guess, continue: goOn } = fields;
  return JSON.stringify({ clue, number, guess, continue: goOn });
}

/** A respondent that gives valid answers unless `override` returns another one. `questions` lists the questions so far. */
export function people(
  override: (question: AskedQuestion, n: number, signal: AbortSignal) => unknown = () => undefined,
) {
  const questions: AskedQuestion[] = [];
  const assassins = new Set<string>();
  /** The assassin, which is known from the questions to spymasters, is never guessed, so that games last long enough for the tests. */
  const withoutAssassins = (question: AskedQuestion): AskedQuestion => ({
    ...question,
    words: question.words.filter((word) => !assassins.has(word)),
  });
  const record = (question: AskedQuestion): AskedQuestion => {
    for (const [, word = ""] of question.text.matchAll(/(?:^| {2}|\n)(\S(?: ?\S)*?) \(assassin\)/g))
      assassins.add(word);
    questions.push(question);
    return question;
  };
  return {
    questions,
    async form(form: Form, signal: AbortSignal): Promise<FormAnswer> {
      const question = record(formQuestion(form));
      return (
        ((await override(question, questions.length, signal)) as FormAnswer | undefined) ??
        formAnswer(withoutAssassins(question), questions.length)
      );
    },
    async prompt(prompt: Prompt, signal: AbortSignal): Promise<string> {
      const question = record(promptQuestion(prompt));
      return (
        ((await override(question, questions.length, signal)) as string | undefined) ??
        textAnswer(withoutAssassins(question), questions.length)
      );
    },
  };
}

/** Resolves when a question is withdrawn. */
export const withdrawn = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });

interface Round {
  readonly inputResponses?: object | undefined;
  readonly requestState?: string | undefined;
  readonly bearer?: string | undefined;
  readonly capabilities?: object;
}

/** A question of a round: a form for the person, or a prompt for the model. */
type InputRequest =
  | { readonly method: "elicitation/create"; readonly params: Form }
  | { readonly method: "sampling/createMessage"; readonly params: Prompt };

/** A JSON-RPC response with either a result or an error. A result without a question has no `inputRequests` and no `requestState`. */
interface RoundResponse {
  readonly result: {
    readonly _meta: { readonly "agent-league/game_token": string };
    readonly content: readonly [{ readonly text: string }];
    readonly isError?: boolean;
    readonly inputRequests: { readonly answer: InputRequest };
    readonly requestState: string;
  };
  readonly error?: { readonly code: number };
}

/** Sends one round of a call in the stateless era. Resolves with the JSON-RPC response. */
export async function round(url: string, name: string, args: object, options: Round = {}) {
  const { inputResponses, requestState, bearer, capabilities = { elicitation: {}, sampling: {} } } = options;
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    },
    body: JSON.stringify(
      rpcRequest("tools/call", {
        name,
        arguments: args,
        inputResponses,
        requestState,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
          "io.modelcontextprotocol/clientCapabilities": capabilities,
        },
      }),
    ),
  });
  const text = await response.text();
  const data = text.startsWith("{")
    ? text
    : (text.split("\n").findLast((line) => line.startsWith("data: {")) ?? "").slice(6);
  return JSON.parse(data) as RoundResponse;
}

/** The question in the result of a round. */
export function questionIn({ result }: Awaited<ReturnType<typeof round>>): AskedQuestion {
  const { answer } = result.inputRequests;
  return answer.method === "elicitation/create" ? formQuestion(answer.params) : promptQuestion(answer.params);
}

/** The input responses with a valid answer to the question of a round. */
export function answerTo(asked: AskedQuestion, n: number): object {
  if (asked.by === "form") return { answer: formAnswer(asked, n) };
  return { answer: { model: "m", role: "assistant", content: { type: "text", text: textAnswer(asked, n) } } };
}

/** The state that is sent with the question of a round. */
export const stateIn = (requestState: string): { game_id: string; tick: number; stage: string; attempt: number } =>
  JSON.parse(Buffer.from(requestState.split(".")[1] ?? "", "base64url").toString("utf8")).p;

/** A log for `startTestHost`, with the entries of rejected answers so far. */
export function rejectionLog(): { readonly log: Logger; readonly rejections: Record<string, unknown>[] } {
  const rejections: Record<string, unknown>[] = [];
  const write = (line: string): void => void (line.includes("answer rejected") && rejections.push(JSON.parse(line)));
  return { log: pino({}, { write }), rejections };
}
