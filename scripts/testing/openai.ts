import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";

/** A request to an OpenAI-compatible endpoint. */
interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly authorization: string | undefined;
  readonly path: string | undefined;
  /** The assassin word of the latest key in a prompt; empty before the first key. */
  readonly assassin: string;
}

/** Answers one request. `n` counts the requests from 1. */
export type Behaviour = (request: ChatRequest, response: ServerResponse, n: number) => void;

/** A scripted OpenAI-compatible endpoint on loopback. */
export interface ChatEndpoint {
  readonly url: string;
  readonly requests: readonly ChatRequest[];
  /** Sets the behaviour for later requests. */
  setBehaviour(behaviour: Behaviour): void;
  close(): Promise<void>;
}

export async function startChatEndpoint(initial: Behaviour = playLegally): Promise<ChatEndpoint> {
  const requests: ChatRequest[] = [];
  let behaviour = initial;
  let assassin = "";
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request)) as Pick<ChatRequest, "model" | "messages">;
    [, assassin = assassin] = /(\w+) \(assassin\)/.exec(body.messages.at(-1)?.content ?? "") ?? [];
    const { authorization } = request.headers;
    const chatRequest: ChatRequest = { ...body, authorization, path: request.url, assassin };
    behaviour(chatRequest, response, requests.push(chatRequest));
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    setBehaviour(next) {
      behaviour = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Plays legally: always the same clue, guesses of the first covered word that is not the assassin, and a further guess whenever it is asked. */
export const playLegally: Behaviour = ({ messages, assassin }, response) =>
  sendCompletion(response, answerTo(messages.at(-1)?.content ?? "", assassin));

/** Answers with a chat completion. `more` is added to its message. */
export const sendCompletion = (response: ServerResponse, content: string | null, more: object = {}): void =>
  sendJson(response, 200, {
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content, ...more }, finish_reason: "stop" }],
  });

export function sendJson(response: ServerResponse, status: number, value: object, headers: object = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
}

/** 25 words that are not in the word lists of Codenames. */
export const WORDS: readonly string[] = Array.from(
  { length: 25 },
  (_, index) => `WORD${String.fromCharCode(65 + index)}`,
);

function answerTo(text: string, assassin: string): string {
  if (text.includes("Give 25 different common nouns")) return JSON.stringify(WORDS);
  if (text.includes('{"clue"')) return '{"clue": "ZXQWV", "number": 1}';
  if (text.includes('{"continue"')) return '{"continue": true}';
  return JSON.stringify({ guess: coveredWord(text, assassin) });
}

/** Returns the first covered word of the board that is not the assassin. The board shows uncovered words in brackets. */
function coveredWord(text: string, assassin: string): string {
  const words = text.match(/\[[^\]]*\]|[A-Z]{2,}(?: [A-Z]+)*/gu) ?? [];
  return words.find((word) => !word.startsWith("[") && word !== assassin) ?? "";
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}
