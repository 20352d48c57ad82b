import type { ServerResponse } from "node:http";
import type { HttpReply } from "../jsonrpc/http-context.ts";

/** Answers a request with a JSON-RPC error. */
export const sendError = (response: ServerResponse, status: number, message: string): void =>
  send(response, status, JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32600, message } }));

/** Sends the complete answer of a handler. */
export const sendReply = (response: ServerResponse, { status, body, headers }: HttpReply): void =>
  send(response, status, body, headers);

/** Sends an answer, unless the headers of an answer have been sent. A body is sent as JSON. */
export function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) return;
  const contentHeaders = body === "" ? {} : { "content-type": "application/json" };
  response.writeHead(status, { ...contentHeaders, ...headers, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

/** Sends a JSON body in parts: `body`, then each part of `more` as it becomes available. Stops when the caller has disconnected. */
export async function stream(
  response: ServerResponse,
  status: number,
  body: string,
  more: AsyncIterable<string>,
): Promise<void> {
  response.writeHead(status, { "content-type": "application/json" }).write(body);
  for await (const part of more) {
    if (response.destroyed) return;
    response.write(part);
  }
  response.end();
}
