import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as an OpenAI-compatible endpoint gets it. */
interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly authorization: string | undefined;
  readonly path: string | undefined;
  /** The assassin of the last key that any request has shown. */
  readonly assassin: string;
}

/** How the endpoint behaves to one request; the nth gets n, from 1 on. */
export type Behaviour = (request: ChatRequest, response: ServerResponse, n: number) => void;

/** A scripted OpenAI-compatible endpoint on loopback. */
export interface ChatEndpoint {
  readonly url: string;
  readonly requests: readonly ChatRequest[];
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

export async function startChatEndpoint(first: Behaviour = plays): Promise<ChatEndpoint> {
  const requests: ChatRequest[] = [];
  let behaviour = first;
  let assassin = "";
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request)) as Pick<ChatRequest, "model" | "messages">;
    [, assassin = assassin] = /(\w+) \(assassin\)/.exec(body.messages.at(-1)?.content ?? "") ?? [];
    const { authorization } = request.headers;
    const asked: ChatRequest = { ...body, authorization, path: request.url, assassin };
    behaviour(asked, response, requests.push(asked));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    behave(next) {
      behaviour = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers as the game wants it: any clue, the first covered word that is not the assassin, and always one guess more. */
export const plays: Behaviour = ({ messages, assassin }, response) =>
  say(response, answerTo(messages.at(-1)?.content ?? "", assassin));

export const say = (response: ServerResponse, content: string | null, more: object = {}): void =>
  json(response, 200, {
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content, ...more }, finish_reason: "stop" }],
  });

export function json(response: ServerResponse, status: number, value: object, headers: object = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
}

/** 25 words that are in no list of ours. */
export const WORDS: readonly string[] = Array.from(
  { length: 25 },
  (_, place) => `WORD${String.fromCharCode(65 + place)}`,
);

function answerTo(text: string, assassin: string): string {
  if (text.includes("Give 25 different common nouns")) return JSON.stringify(WORDS);
  if (text.includes('{"clue"')) return '{"clue": "ZXQWV", "number": 1}';
  if (text.includes('{"continue"')) return '{"continue": true}';
  return JSON.stringify({ guess: coveredWord(text, assassin) });
}

/** The first word of the board that will do; the uncovered ones are in brackets. */
function coveredWord(text: string, assassin: string): string {
  const words = text.match(/\[[^\]]*\]|[A-Z]{2,}(?: [A-Z]+)*/gu) ?? [];
  return words.find((word) => !word.startsWith("[") && word !== assassin) ?? "";
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}
