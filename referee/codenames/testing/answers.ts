import { type Logger, pino } from "pino";
import type { Form, FormAnswer, Prompt } from "./host.ts";
import { textOf } from "./host.ts";

export const ROLES = ["red_spymaster", "red_team", "blue_spymaster", "blue_team"] as const;
export type Players = Readonly<Record<(typeof ROLES)[number], "user" | "llm">>;
export const players = (bits: number): Players =>
  Object.fromEntries(ROLES.map((role, place) => [role, (bits >> place) & 1 ? "llm" : "user"])) as Players;
export const USERS = players(0);
export const MODELS = players(15);

/** A question that one of both is asked. */
export interface Asked {
  readonly by: "form" | "prompt";
  readonly stage: "source" | "words" | "clue" | "guess" | "continue" | "leave";
  readonly text: string;
  /** The covered words, where one of them has to be guessed. */
  readonly words: readonly string[];
}

function formAsked({ message, requestedSchema: { properties } }: Form): Asked {
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

function promptAsked(prompt: Prompt): Asked {
  const text = textOf(prompt);
  const stages = { clue: '{"clue"', guess: '{"guess"', continue: '{"continue"' } as const;
  const [stage = "words" as const] = (["clue", "guess", "continue"] as const).filter((one) =>
    text.includes(stages[one]),
  );
  return { by: "prompt", stage, text, words: stage === "guess" ? coveredIn(text) : [] };
}

/** The words on a board in a prompt that are not in brackets, as those are that are uncovered. */
function coveredIn(text: string): string[] {
  const rows = text.split("\n\n").find((part) => part.split("\n").length === 5) ?? "";
  return rows
    .split(/\n| {2,}/)
    .map((word) => word.trim())
    .filter((word) => word !== "" && !word.startsWith("["));
}

/** A word that is on no board. */
export const strange = (n: number): string => `ZXQ${"W".repeat(1 + (n % 20))}`;

/** What somebody says who plays by what it is told: any clue, then the first word, then another. */
function sensible({ stage, words }: Asked, n: number): Record<string, string | number | boolean> {
  switch (stage) {
    case "source":
      return { source: "built-in" };
    case "words":
      return { words: Array.from({ length: 25 }, (_, place) => String.fromCharCode(65 + place).repeat(4)).join(",") };
    case "clue":
      return { word: strange(n), clue: strange(n), number: 1 };
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

/** The question with the right words to guess first, as a spymaster's question tells them: so a game does not end by chance. */
export function knowing(asked: Asked, key: string): Asked {
  const [, team = ""] = /guessing team (red|blue)/.exec(asked.text) ?? [];
  const right = asked.words.filter((word) => key.includes(`${word} (${team})`));
  return { ...asked, words: [...right, ...asked.words] };
}

/** The same as a form or as a model's text. */
export function inForm(asked: Asked, n: number): FormAnswer {
  const { word, number, source, words, go_on } = sensible(asked, n);
  const content = Object.entries({
    word,
    number: number === undefined ? undefined : String(number),
    source,
    words,
    go_on,
  });
  return accept(Object.fromEntries(content.filter(([, value]) => value !== undefined)) as Record<string, string>);
}
export function inText(asked: Asked, n: number): string {
  const said = sensible(asked, n);
  if (asked.stage === "words") return JSON.stringify(String(said.words).split(","));
  const { clue, number, guess, continue: goOn } = said;
  return JSON.stringify({ clue, number, guess, continue: goOn });
}

/** Answers everything sensibly, unless `instead` has another answer; keeps what was asked. */
export function people(instead: (asked: Asked, n: number, signal: AbortSignal) => unknown = () => undefined) {
  const asked: Asked[] = [];
  const assassins = new Set<string>();
  /** Nobody guesses the assassin, which a spymaster's board names: so every game is long enough to be disturbed. */
  const careful = (one: Asked): Asked => ({ ...one, words: one.words.filter((word) => !assassins.has(word)) });
  const note = (one: Asked): Asked => {
    for (const [, word = ""] of one.text.matchAll(/(?:^| {2}|\n)(\S(?: ?\S)*?) \(assassin\)/g)) assassins.add(word);
    asked.push(one);
    return one;
  };
  return {
    asked,
    async form(form: Form, signal: AbortSignal): Promise<FormAnswer> {
      const one = note(formAsked(form));
      return (
        ((await instead(one, asked.length, signal)) as FormAnswer | undefined) ?? inForm(careful(one), asked.length)
      );
    },
    async prompt(prompt: Prompt, signal: AbortSignal): Promise<string> {
      const one = note(promptAsked(prompt));
      return ((await instead(one, asked.length, signal)) as string | undefined) ?? inText(careful(one), asked.length);
    },
  };
}

/** Resolves when a question has been taken back. */
export const takenBack = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });

export interface Round {
  readonly inputResponses?: object | undefined;
  readonly requestState?: string | undefined;
  readonly bearer?: string | undefined;
  readonly capabilities?: object;
}

/** One round of a call in the stateless era, by hand: the whole JSON-RPC response. */
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
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        ...{ name, arguments: args, inputResponses, requestState },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
          "io.modelcontextprotocol/clientCapabilities": capabilities,
        },
      },
    }),
  });
  const text = await response.text();
  const data = text.startsWith("{")
    ? text
    : (text.split("\n").findLast((line) => line.startsWith("data: {")) ?? "").slice(6);
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says is checked by the tests
  return JSON.parse(data) as { result?: any; error?: any };
}

/** The question in a round's result. */
export function askedIn({ result }: Awaited<ReturnType<typeof round>>): Asked {
  const { method, params } = result.inputRequests.answer;
  return method === "elicitation/create" ? formAsked(params) : promptAsked(params);
}

/** What a round's question is answered with. */
export function answerTo(asked: Asked, n: number): object {
  if (asked.by === "form") return { answer: inForm(asked, n) };
  return { answer: { model: "m", role: "assistant", content: { type: "text", text: inText(asked, n) } } };
}

/** The tick at which a round was asked, and the rest that travels with it. */
export const stateIn = (requestState: string): { game_id: string; tick: number; stage: string; attempt: number } =>
  JSON.parse(Buffer.from(requestState.split(".")[1] ?? "", "base64url").toString("utf8")).p;

/** A log for `startTestHost`, and its entries of rejected answers so far. */
export function logOfRefused(): { readonly log: Logger; readonly refused: Record<string, unknown>[] } {
  const refused: Record<string, unknown>[] = [];
  const write = (line: string): void => void (line.includes("answer rejected") && refused.push(JSON.parse(line)));
  return { log: pino({}, { write }), refused };
}
