import { createServer } from "node:http";
import type { Envelope } from "#shared/protocol/envelope.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";

/** An agent that a test controls: it accepts every match, plays none, and keeps the messages that it receives. */
export interface ScriptedAgent {
  readonly url: string;
  readonly received: Envelope[];
  token: string;
  /** Whether it answers a health probe, given the number of probes since this function was set, from 1. */
  answersProbe: (probe: number) => boolean;
  readonly probes: () => number;
  /** The START_GAMEs that it has received since the last start of the manager. */
  orders: () => readonly StartGame[];
  isListening: () => boolean;
  listen(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a scripted agent on a free port. */
export async function scriptedAgent(): Promise<ScriptedAgent> {
  const received: Envelope[] = [];
  let probes = 0;
  let answersProbe = (_probe: number): boolean => true;
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(answersProbe(++probes) ? 200 : 503).end("");
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const { id, params } = JSON.parse(text);
    received.push(params.arguments);
    const reply = newEnvelope("START_GAME_RESPONSE", "referee:x", { status: "ACCEPTED" });
    const result = textResult(reply);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(rpcResponse(id, result)));
  });
  const port = await listenOnLoopback(server, await freePort());
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    received,
    token: "",
    set answersProbe(next) {
      probes = 0;
      answersProbe = next;
    },
    get answersProbe() {
      return answersProbe;
    },
    probes: () => probes,
    orders: () => received.flatMap(({ type, payload }) => (type === "START_GAME" ? [payload as StartGame] : [])),
    isListening: () => server.listening,
    listen: async () => void (await listenOnLoopback(server, port)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
