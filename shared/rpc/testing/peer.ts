import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";
import { afterEach, beforeEach, expect } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { newEnvelope } from "../../protocol/testing/envelope.ts";
import { createPeers, type Peers } from "../peer/peer.ts";
import { rpcResponse, textResult } from "./json-rpc.ts";
import { listenOnLoopback } from "./loopback.ts";

interface Call {
  readonly body: { readonly id: number; readonly [field: string]: unknown };
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}
export type Script = (call: Call) => void;

interface Scripted {
  readonly url: string;
  readonly calls: Call[];
  readonly sockets: Set<Socket>;
}

export const REQUEST = newEnvelope("MOVE_REQUEST", "referee:REF01", { match_id: "R1M1" });
export const REPLY = newEnvelope(
  "MOVE_RESPONSE",
  "player:P01",
  { move: "rock" },
  { correlationId: REQUEST.message_id },
);

/** Created for each test and closed after it. */
export let peers: Peers;
const servers: Server[] = [];
const open = new Set<Socket>();

export async function listen(server: Server, port = 0): Promise<number> {
  servers.push(server);
  server.on("connection", (socket) => open.add(socket));
  return listenOnLoopback(server, port);
}

/** Starts a server that passes each request to the script of a test. */
export async function scripted(script: Script, at = 0): Promise<Scripted> {
  const calls: Call[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const call = { body: JSON.parse(Buffer.concat(chunks).toString() || "{}"), request, response };
    calls.push(call);
    script(call);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const port = await listen(server, at);
  return { url: `http://127.0.0.1:${port}/mcp`, calls, sockets };
}

/** Resolves when the connection of a call is closed. */
export async function connectionClosed(call: Call | undefined): Promise<void> {
  const socket = call?.request.socket;
  if (socket && !socket.closed) await new Promise((resolve) => socket.once("close", resolve));
}

/** Sets the hooks of a test file. They cannot be set here, because test files share this module. */
export function usePeers(): void {
  beforeEach(() => {
    peers = createPeers({ clock: systemClock });
  });
  afterEach(async () => {
    await peers.close();
    for (const socket of open) socket.destroy();
    open.clear();
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });
}

export const answer = ({ body, response }: Call, result: unknown = textResult(REPLY)): void => {
  response.end(JSON.stringify(rpcResponse(body.id, result)));
};

/** Answers with a status and a text. */
export const status =
  (code: number, text = ""): Script =>
  ({ response }) =>
    void response.writeHead(code).end(text);

/** Replaces `peers` with peers whose first call has id 1. */
export function newPeers(): void {
  peers = createPeers({ clock: systemClock });
}

export const message = (url: string, options: Partial<Parameters<Peers["message"]>[2]> = {}) =>
  peers.message(url, REQUEST, { timeoutMs: 2_000, ...options });
export const failure = (cause: string, detail: unknown = expect.any(String)) => ({
  ok: false,
  error: expect.objectContaining({ cause, detail }),
});
export const success = { ok: true, value: REPLY };
