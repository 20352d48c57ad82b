import type { ServerResponse } from "node:http";
import type { HttpReply } from "../jsonrpc/http.ts";

/** Rejects a request to `/mcp`, in JSON-RPC. */
export const reject = (response: ServerResponse, status: number, message: string): void =>
  send(response, status, JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32600, message } }));

/** Sends the reply of a handler. */
export const sendReply = (response: ServerResponse, { status, body, headers }: HttpReply): void =>
  send(response, status, body, headers);

/** Sends a response, unless its headers have been sent already. */
export function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) return;
  const about = body === "" ? {} : { "content-type": "application/json" };
  response.writeHead(status, { ...about, ...headers, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

/** Sends a response in parts. Stops when the caller has closed the connection. */
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
