import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import { httpEndpoint } from "../http/endpoint.ts";
import { jsonRpc } from "../jsonrpc/json-rpc.ts";
import type { McpSurface, Tool } from "../mcp/mcp.ts";
import { serviceOf } from "../mcp/service.ts";
import { mcpSessions } from "../mcp/sessions.ts";
import { type McpStdio, type McpStdioOptions, mcpStdio } from "../stdio/stdio.ts";

// biome-ignore lint/suspicious/noExplicitAny: the tests look into whatever comes
export type Wire = any;

/** An MCP server over HTTP that can be stopped, or cut off, and started again on its port. */
export interface TestServer {
  readonly url: string;
  /** Told of each call of the tool `wait`, which answers when it is cancelled. */
  calls: { readonly cancelled: Promise<void> }[];
  changed(uri: string): void;
  /** Breaks every connection off and forgets all, as a kill does. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

const schemas = { inputSchema: { type: "object" }, outputSchema: { type: "object" } };
const about = { ...schemas, title: "T", description: "D", annotations: {} };
const textOf = (text: string) => ({ content: [{ type: "text" as const, text }] });

/** Tools that answer at once, with a report of their progress, and with the answer of the client's model. */
const tools: readonly Tool[] = [
  { ...about, name: "greet", call: async () => textOf("Hello") },
  {
    ...about,
    name: "count",
    waits: true,
    async call(_args, { progress }) {
      for (const step of [0, 50, 100]) progress?.(step, 100, "");
      return textOf("Done");
    },
  },
  {
    ...about,
    name: "sample",
    waits: true,
    async call(args, { input }) {
      if (input?.said) return textOf(input.said.kind === "text" ? input.said.text : input.said.kind);
      const { prompt } = args as { prompt: string };
      return { asks: { kind: "prompt", system: "", text: prompt, maxTokens: 100 }, state: null };
    },
  },
];

/** Beside those tools: one that waits, and a resource that may change. */
export async function startTestServer(onError: (error: unknown) => void): Promise<TestServer> {
  const calls: TestServer["calls"] = [];
  const surface: McpSurface = {
    serverInfo: { name: "test", version: "1" },
    tools: [
      ...tools,
      {
        ...about,
        name: "wait",
        async call(_args, { gone }) {
          const cancelled = Promise.withResolvers<void>();
          gone?.().addEventListener("abort", () => cancelled.resolve());
          calls.push({ cancelled: cancelled.promise });
          await cancelled.promise;
          return { content: [] };
        },
      },
    ],
    resources: ["news", "other"].map((name) => ({
      ...{ uri: `test://${name}`, name, description: "N" },
      read: () => ({ [name]: true }),
    })),
    templates: [],
  };
  let server: Server;
  let sessions: ReturnType<typeof mcpSessions>;
  let port = 0;
  const start = async (): Promise<void> => {
    const service = serviceOf(surface, "k".repeat(43));
    sessions = mcpSessions(service, onError, systemClock, systemIds);
    server = httpEndpoint({
      handler: jsonRpc(service.methods, onError, systemClock).answer,
      sessions: async () => sessions,
      web: () => Promise.reject(),
      bodyLimit: () => 64 * 1024,
      allowedHosts: [],
    });
    await once(server.listen(port, "127.0.0.1"), "listening");
    port = (server.address() as AddressInfo).port;
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    calls,
    changed: (uri) => sessions.changed(uri),
    start,
    async kill() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await sessions.close();
    },
  };
}

/** A client on the other side of stdio, by the bare wire. */
export interface TestWire {
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly stdio: McpStdio;
  /** All that has come, in order. */
  readonly got: readonly Wire[];
  readonly told: readonly string[];
  send(...messages: object[]): void;
  /** Resolves with the next message that fits and has not been waited for before. */
  next(fits: (message: Wire) => boolean): Promise<Wire>;
  /** The answer to a request that is sent now. */
  ask(id: string | number, method: string, params?: object): Promise<Wire>;
}

export function connectWire(url: string, serverFor?: McpStdioOptions["serverFor"]): TestWire {
  const input = new PassThrough();
  const output = new PassThrough();
  const told: string[] = [];
  // A bridge pauses for a second before it calls a server again that was down.
  const clock: Clock = { ...systemClock, pause: (ms, signal) => systemClock.pause(ms / 20, signal) };
  const stdio = mcpStdio({ url, serverFor, input, output, tell: (line) => told.push(line), clock });
  const got: Wire[] = [];
  const fresh: Wire[] = [];
  const watchers = new Set<() => void>();
  let rest = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    const messages = lines.map((line) => JSON.parse(line));
    got.push(...messages);
    fresh.push(...messages);
    for (const look of [...watchers]) look();
  });
  const send = (...messages: object[]): void => {
    for (const message of messages) input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  const next: TestWire["next"] = (fits) =>
    new Promise((resolve) => {
      const look = (): void => {
        const at = fresh.findIndex(fits);
        if (at < 0) return;
        watchers.delete(look);
        resolve(fresh.splice(at, 1)[0]);
      };
      watchers.add(look);
      look();
    });
  return {
    input,
    output,
    stdio,
    got,
    told,
    send,
    next,
    ask(id, method, params) {
      send({ id, method, ...(params && { params }) });
      return next((message) => message.id === id && message.method === undefined);
    },
  };
}

export const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: { sampling: {}, elicitation: {} },
  clientInfo: { name: "test", version: "1" },
};

/** What each request of 2026-07-28 carries. */
export const STATELESS = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": INITIALIZE.clientInfo,
    "io.modelcontextprotocol/clientCapabilities": INITIALIZE.capabilities,
  },
};
