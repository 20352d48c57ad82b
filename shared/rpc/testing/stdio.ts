import type { Server } from "node:http";
import { PassThrough } from "node:stream";
import { httpEndpoint } from "#shared/rpc/http/http-server.ts";
import { jsonRpc } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { serviceOf } from "#shared/rpc/mcp/mcp-endpoint.ts";
import type { McpSurface, Tool } from "#shared/rpc/mcp/methods.ts";
import type { McpService } from "#shared/rpc/mcp/sdk-server.ts";
import { mcpSessions } from "#shared/rpc/mcp/sessions.ts";
import { Bridge } from "#shared/rpc/stdio/bridge.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import { freePort } from "../../runtime/process/free-ports.ts";
import { routedService, type ServiceFor } from "../mcp/routed-service.ts";
import { serveLocally } from "../stdio/local-server.ts";
import { listenOnLoopback } from "./loopback.ts";

// biome-ignore lint/suspicious/noExplicitAny: the tests read messages of any shape
export type Wire = any;

/** A call of the tool `wait`, which is answered when it is cancelled. */
export interface WaitCall {
  readonly cancelled: Promise<void>;
}

/** An MCP server over HTTP that can be killed and started again on its port. */
export interface TestServer {
  readonly url: string;
  readonly service: McpService;
  readonly calls: readonly WaitCall[];
  notifyChanged(uri: string): void;
  /** Breaks off every connection and closes every session. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

const schemas = { inputSchema: { type: "object" }, outputSchema: { type: "object" } };
const about = { ...schemas, title: "T", description: "D", annotations: {} };
const textOf = (text: string) => ({ content: [{ type: "text" as const, text }] });

/** Tools that answer immediately, after reports of progress, and with the answer of the client's model. */
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
      if (input?.answer) return textOf(input.answer.kind === "text" ? input.answer.text : input.answer.kind);
      const { prompt } = args as { prompt: string };
      return { question: { kind: "prompt", system: "", text: prompt, maxTokens: 100 }, state: null };
    },
  },
];

/** The tools above with one that waits, and resources that may change. */
const surfaceOf = (calls: WaitCall[]): McpSurface => ({
  serverInfo: { name: "test", version: "1" },
  tools: [
    ...tools,
    {
      ...about,
      name: "wait",
      async call(_args, { abortSignal }) {
        const cancelled = Promise.withResolvers<void>();
        abortSignal?.().addEventListener("abort", () => cancelled.resolve());
        calls.push({ cancelled: cancelled.promise });
        await cancelled.promise;
        return { content: [] };
      },
    },
  ],
  resources: ["state", "other"].map((name) => ({
    uri: `test://${name}`,
    name,
    description: "N",
    read: () => ({ [name]: true }),
  })),
  templates: [],
});

/** The service of that surface, and the calls of its tool `wait`. */
export function serviceWithCalls(): { readonly service: McpService; readonly calls: readonly WaitCall[] } {
  const calls: WaitCall[] = [];
  return { service: serviceOf(surfaceOf(calls), "k".repeat(43)), calls };
}

export async function startTestServer(onError: (error: unknown) => void): Promise<TestServer> {
  const { service, calls } = serviceWithCalls();
  let server: Server;
  let sessions: ReturnType<typeof mcpSessions>;
  const port = await freePort();
  const start = async (): Promise<void> => {
    sessions = mcpSessions(service, onError, systemClock, systemIds);
    server = httpEndpoint({
      handler: jsonRpc(service.methods, onError).answer,
      sessions: async () => sessions,
      web: () => Promise.reject(),
      bodyLimit: () => 64 * 1024,
      allowedHosts: [],
    });
    await listenOnLoopback(server, port);
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    service,
    calls,
    notifyChanged: (uri) => sessions.notifyChanged(uri),
    start,
    async kill() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await sessions.close();
    },
  };
}

/** A client on stdio that sends and receives bare messages. */
export interface TestWire {
  readonly input: PassThrough;
  readonly output: PassThrough;
  /** Resolves when the server has found that the client has disconnected. */
  readonly ended: Promise<void>;
  /** All received messages, in order. */
  readonly received: readonly Wire[];
  send(...messages: object[]): void;
  /** Resolves with the next message that fits and that no earlier call has returned. */
  next(fits: (message: Wire) => boolean): Promise<Wire>;
  /** Sends a request and resolves with its response. */
  ask(id: string | number, method: string, params?: object): Promise<Wire>;
  close(): Promise<void>;
}

/** Shortens the pause of one second before a bridge opens a stream again. */
const quickClock: Clock = { ...systemClock, pause: (ms, signal) => systemClock.pause(ms / 20, signal) };

/** A client of the bridge to an MCP server, with the lines that the bridge logs. */
export async function connectBridge(
  url: string,
  clock: Clock = quickClock,
): Promise<TestWire & { readonly log: readonly string[] }> {
  const log: string[] = [];
  const wire = openWire();
  const bridge = new Bridge({ input: wire.input, output: wire.output, url, say: (line) => log.push(line), clock });
  await bridge.start();
  return { ...wire, ended: bridge.ended, log, close: () => bridge.close() };
}

/** A client of a service in this process. `notify` reports a changed resource. */
export function connectLocal(
  service: McpService,
  onError: (error: unknown) => void,
  serviceFor: ServiceFor = () => null,
): TestWire & { notify(uri: string): void } {
  const wire = openWire();
  const { input, output } = wire;
  const http = { bearer: null, remoteAddress: "127.0.0.1" };
  const routed = routedService(service, serviceFor);
  const server = serveLocally({ service: routed, input, output, http, onError, clock: systemClock });
  return { ...wire, ...server };
}

function openWire(): Omit<TestWire, "close" | "ended"> {
  const input = new PassThrough();
  const output = new PassThrough();
  const received: Wire[] = [];
  const unread: Wire[] = [];
  const watchers = new Set<() => void>();
  let rest = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    const messages = lines.map((line) => JSON.parse(line));
    received.push(...messages);
    unread.push(...messages);
    for (const look of [...watchers]) look();
  });
  const send = (...messages: object[]): void => {
    for (const message of messages) input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  const next: TestWire["next"] = (fits) =>
    new Promise((resolve) => {
      const look = (): void => {
        const at = unread.findIndex(fits);
        if (at < 0) return;
        watchers.delete(look);
        resolve(unread.splice(at, 1)[0]);
      };
      watchers.add(look);
      look();
    });
  const ask: TestWire["ask"] = (id, method, params) => {
    send({ id, method, ...(params && { params }) });
    return next((message) => message.id === id && message.method === undefined);
  };
  return { input, output, received, send, next, ask };
}

export const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: { sampling: {}, elicitation: {} },
  clientInfo: { name: "test", version: "1" },
};

/** The parameters that every request of 2026-07-28 has. */
export const STATELESS = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": INITIALIZE.clientInfo,
    "io.modelcontextprotocol/clientCapabilities": INITIALIZE.capabilities,
  },
};
