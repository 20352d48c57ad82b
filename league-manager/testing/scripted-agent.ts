import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Envelope } from "#shared/protocol/envelope.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";

/** An agent that a test controls: it accepts every match, plays none, and keeps the messages that it received. */
export interface ScriptedAgent {
  readonly url: string;
  readonly told: Envelope[];
  token: string;
  /** Whether it answers the nth health probe since this function was set. */
  isWell: (time: number) => boolean;
  readonly probes: () => number;
  /** The START_GAMEs that it received since the last start of the manager. */
  orders: () => readonly StartGame[];
  isListening: () => boolean;
  listen(): Promise<void>;
  close(): Promise<void>;
}

export async function scriptedAgent(): Promise<ScriptedAgent> {
  const told: Envelope[] = [];
  let probes = 0;
  let isWell = (_time: number): boolean => true;
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(isWell(++probes) ? 200 : 503).end("");
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const { id, params } = JSON.parse(text);
    told.push(params.arguments);
    const reply = newEnvelope("START_GAME_RESPONSE", "referee:x", { status: "ACCEPTED" });
    const result = { content: [{ type: "text", text: JSON.stringify(reply) }] };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    told,
    token: "",
    set isWell(how) {
      probes = 0;
      isWell = how;
    },
    get isWell() {
      return isWell;
    },
    probes: () => probes,
    orders: () => told.flatMap(({ type, payload }) => (type === "START_GAME" ? [payload as StartGame] : [])),
    isListening: () => server.listening,
    listen: () => listen(port),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
