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
