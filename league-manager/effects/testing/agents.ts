import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import type { Envelope, MessageType } from "#shared/protocol/envelope.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";

/**
 * The answer of an agent to a message: `accepted` is the expected answer, `full` and `foreign` are errors of the protocol, and so is `newestEpoch` of a
 * referee that knows the match under a later epoch. `plain` is a tool result without an envelope, a number is an HTTP status without a body.
 */
export type TestAnswer = "accepted" | "full" | "foreign" | "plain" | { readonly newestEpoch: number } | number;

/** An HTTP server that answers as its test determines and records the messages that it receives. */
export interface TestAgent {
  readonly url: string;
  /** In the order in which they arrived. */
  readonly received: Envelope[];
  /** Returns the answer to a message. A promise delays it. */
  answer: (envelope: Envelope) => TestAnswer | Promise<TestAnswer>;
  /** Whether it answers GET /health with 200; otherwise with 503. */
  isHealthy: boolean;
  /** The number of next probes that it answers with 503 although it is healthy. */
  probesToMiss: number;
  probes: number;
  /** The requests for a WebSocket. It refuses them, so that messages arrive by POST. */
  upgrades: number;
  token: string;
  of(type: MessageType): readonly Envelope[];
  orders(): readonly StartGame[];
  listen(): Promise<void>;
  close(): Promise<void>;
}

/** Starts an agent that is closed at the end of the current test. `onMessage` is called before each message is answered. */
export async function startTestAgent(onMessage: (envelope: Envelope) => void = () => {}): Promise<TestAgent> {
  const server = createServer(async (request, response) => {
    if (request.method === "GET") {
      agent.probes++;
      const isMissed = !agent.isHealthy || agent.probesToMiss-- > 0;
      return void response.writeHead(isMissed ? 503 : 200).end();
    }
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const { id, params } = JSON.parse(text);
    const envelope: Envelope = params.arguments;
    agent.received.push(envelope);
    onMessage(envelope);
    const answer = await agent.answer(envelope);
    if (typeof answer === "number") return void response.writeHead(answer).end();
    const content = answer === "plain" ? { status: "ACCEPTED" } : replyOf(answer);
    const result = textResult(content);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(rpcResponse(id, result)));
  });
  server.on("upgrade", (_request, connection) => {
    agent.upgrades++;
    connection.destroy();
  });
  const port = await listenOnLoopback(server, await freePort());
  const agent: TestAgent = {
    url: `http://127.0.0.1:${port}/mcp`,
    received: [],
    answer: () => "accepted",
    isHealthy: true,
    probesToMiss: 0,
    probes: 0,
    upgrades: 0,
    token: "",
    of: (type) => agent.received.filter((envelope) => envelope.type === type),
    orders: () => agent.of("START_GAME").map(({ payload }) => payload as StartGame),
    listen: async () => void (await listenOnLoopback(server, port)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  onTestFinished(() => agent.close());
  return agent;
}

function replyOf(answer: Exclude<TestAnswer, number | "plain">): Envelope {
  if (answer === "accepted") return newEnvelope("START_GAME_RESPONSE", "referee:x", { status: "ACCEPTED" });
  if (typeof answer === "object") {
    const error = { error_code: "G005", message: "superseded", retryable: false };
    return newEnvelope("GAME_ERROR", "referee:x", { ...error, context: { epoch: answer.newestEpoch } });
  }
  const error = answer === "full" ? { error_code: "G005", retryable: true } : { error_code: "L004", retryable: false };
  return newEnvelope("GAME_ERROR", "referee:x", { ...error, message: answer });
}
