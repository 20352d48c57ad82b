import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenOnLoopback } from "./loopback.ts";

/** A request to an OpenAI-compatible endpoint: the fields of its body, its path and its header Authorization. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly seed?: number;
  readonly temperature?: number;
  readonly response_format?: { readonly type: string };
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly authorization: string | undefined;
  readonly path: string | undefined;
}

/** Answers one request. `n` counts the requests from 1; `requests` are all requests until now. */
export type Behaviour = (
  request: ChatRequest,
  response: ServerResponse,
  n: number,
  requests: readonly ChatRequest[],
) => void;

/** A scripted OpenAI-compatible endpoint on loopback. */
export interface ChatEndpoint {
  readonly url: string;
  readonly requests: readonly ChatRequest[];
  /** Sets the behaviour for later requests. */
  setBehaviour(behaviour: Behaviour): void;
  close(): Promise<void>;
}

export async function startChatEndpoint(initial: Behaviour): Promise<ChatEndpoint> {
  const requests: ChatRequest[] = [];
  let behaviour = initial;
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request)) as Pick<ChatRequest, "model" | "messages">;
    const chatRequest: ChatRequest = { ...body, authorization: request.headers.authorization, path: request.url };
    behaviour(chatRequest, response, requests.push(chatRequest), requests);
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

/** Answers with a chat completion. `message` is added to its message, `more` to the whole. */
export const sendCompletion = (
  response: ServerResponse,
  content: string | null,
  message: object = {},
  more: { readonly finish_reason?: string; readonly usage?: object } = {},
): void => {
  const { finish_reason = "stop", ...fields } = more;
  const choice = { index: 0, message: { role: "assistant", content, ...message }, finish_reason };
  sendJson(response, 200, { object: "chat.completion", choices: [choice], ...fields });
};

export function sendJson(response: ServerResponse, status: number, value: object, headers: object = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}
