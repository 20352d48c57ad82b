import { once } from "node:events";
import { Agent, type IncomingMessage, request, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { httpEndpoint } from "#shared/rpc/http/http-server.ts";
import { systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import { rpcRequest } from "../testing/json-rpc.ts";
import { listenOnLoopback } from "../testing/loopback.ts";
import { directTools, mcpMethods, type Tool } from "./methods.ts";
import { type McpSessions, mcpSessions } from "./sessions.ts";

const MINUTE_MS = 60_000;
/** Lets the tool `wait` answer. */
let release: PromiseWithResolvers<void>;
let called: PromiseWithResolvers<void>;
const tools: Tool[] = [
  {
    name: "wait",
    title: "T",
    description: "D",
    inputSchema: { type: "object" },
    outputSchema: { type: "object" },
    annotations: {},
    waits: true,
    async call() {
      called.resolve();
      await release.promise;
      return { content: [{ type: "text", text: "waited" }] };
    },
  },
];
const fail = (error: unknown): void => {
  throw error;
};
const surface = { serverInfo: { name: "test", version: "1.0.0" }, tools, resources: [], templates: [] };
const service = {
  ...surface,
  methods: mcpMethods(surface),
  direct: directTools(surface),
  isSubscribable: () => true,
  stateKey: "k".repeat(43),
};

let all: McpSessions;
let server: Server;
let port: number;
beforeEach(async () => {
  release = Promise.withResolvers();
  called = Promise.withResolvers();
  // Only the timers of this code and the SDK: the test advances them, and connections are not affected.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout", "Date", "performance"] });
  all = mcpSessions(service, fail, systemClock, systemIds);
  server = httpEndpoint({
    handler: () => Promise.reject(),
    sessions: async () => all,
    web: () => Promise.reject(),
    bodyLimit: () => 64 * 1024,
    allowedHosts: [],
  });
  port = await listenOnLoopback(server);
});
afterEach(async () => {
  release.resolve();
  await all.close();
  vi.useRealTimers();
  server.close().closeAllConnections();
});

const CLIENT = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Sends a request on a separate connection. Resolves with the headers of its answer. */
async function send(method: string, headers: Record<string, string>, message?: object): Promise<IncomingMessage> {
  const agent = new Agent({ keepAlive: false });
  const sent = request({ port, path: "/mcp", method, headers: { ...CLIENT, ...headers }, agent });
  sent.end(message && JSON.stringify(message));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.on("error", () => {}); // the test breaks the connection
  return response;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return text;
}

interface Client {
  post(message: object): Promise<IncomingMessage>;
  /** Opens the stream of the session. */
  listen(): Promise<IncomingMessage>;
  /** The status of a ping: 404 when the session is closed. */
  status(): Promise<number | undefined>;
}

const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1.0.0" },
};

/** Opens a session. Unless `isSilent`, it sends `notifications/initialized`, as the SDK's clients do. */
async function connect({ isSilent = false } = {}): Promise<Client> {
  const opened = await send("POST", {}, rpcRequest("initialize", INITIALIZE));
  const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) };
  await textOf(opened);
  const post = (message: object) => send("POST", session, { jsonrpc: "2.0", ...message });
  if (!isSilent) await textOf(await post({ method: "notifications/initialized" }));
  return {
    post,
    listen: () => send("GET", session),
    async status() {
      const answer = await post({ id: 2, method: "ping" });
      await textOf(answer);
      return answer.statusCode;
    },
  };
}

const MARK = "test://mark";

/** Reads a stream and answers every ping. `read` resolves when everything that was sent before has been read. */
async function attend(client: Client, stream: IncomingMessage) {
  await textOf(await client.post({ id: 4, method: "resources/subscribe", params: { uri: MARK } }));
  let pings = 0;
  let marked = Promise.withResolvers<void>();
  const take = async (event: string): Promise<void> => {
    const { id, method } = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? "{}");
    if (method === "notifications/resources/updated") marked.resolve();
    if (method !== "ping") return;
    pings++;
    await textOf(await client.post({ id, result: {} }));
  };
  const reading = (async () => {
    let unread = "";
    for await (const chunk of stream.setEncoding("utf8")) {
      const events = (unread + chunk).split("\n\n");
      unread = events.pop() ?? "";
      for (const event of events) await take(event);
    }
  })();
  reading.catch(() => {}); // the test breaks the connection at its end
  return {
    pings: () => pings,
    read(): Promise<void> {
      marked = Promise.withResolvers();
      all.notifyChanged(MARK);
      return marked.promise;
    },
  };
}

/** Lets the server process the events of its connections. */
const settle = () => new Promise((resolve) => setImmediate(resolve));
const pass = async (minutes: number): Promise<void> => {
  for (let minute = 0; minute < minutes; minute++) {
    await settle();
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
  }
};

describe("the session of a client that has disappeared", () => {
  it("is closed after ten idle minutes, also when the date of the machine is set back", async () => {
    const client = await connect();
    await pass(9);
    expect(await client.status()).toBe(200);
    await pass(9);
    expect(await client.status()).toBe(200);
    vi.setSystemTime(Date.now() - 60 * MINUTE_MS);
    await pass(15);
    expect(await client.status()).toBe(404);
  });

  it("is closed within a minute if nothing was received after initialize", async () => {
    const [silent, initialized] = [await connect({ isSilent: true }), await connect()];
    await pass(1);
    expect([await silent.status(), await initialized.status()]).toEqual([404, 200]);
  });

  it("is closed after its stream has broken", async () => {
    const client = await connect();
    const asked = once(server, "request");
    const stream = await client.listen();
    const [, response] = await asked;
    const closed = once(response, "close");
    stream.socket.destroy();
    await closed;
    await pass(15);
    expect(await client.status()).toBe(404);
  });

  it("is closed although its stream is open, if the client does not read it", async () => {
    const client = await connect();
    const stream = await client.listen();
    stream.pause();
    const broken = once(stream.socket, "close");
    await pass(13);
    await broken;
    expect(await client.status()).toBe(404);
  });
});

describe("a session stays open", () => {
  it("while a client with an open stream answers pings", async () => {
    const client = await connect();
    const stream = await client.listen();
    const reader = await attend(client, stream);
    for (let minute = 0; minute < 60; minute++) {
      await vi.advanceTimersByTimeAsync(MINUTE_MS);
      await reader.read();
    }
    expect(reader.pings()).toBeGreaterThan(3);
    expect([stream.destroyed, await client.status()]).toEqual([false, 200]);
    stream.destroy();
  });

  it("while a call is not answered", async () => {
    const client = await connect();
    const answer = await client.post({ id: 3, method: "tools/call", params: { name: "wait" } });
    await called.promise;
    await pass(60);
    release.resolve();
    expect(await textOf(answer)).toContain("waited");
    expect(await client.status()).toBe(200);
  });
});

describe("a full table of sessions", () => {
  beforeEach(async () => {
    await all.close();
    all = mcpSessions(service, fail, systemClock, systemIds, undefined, { total: 3, perNetwork: 3 });
  });

  it("replaces the longest idle session by a new one", async () => {
    const [first, second, third] = [await connect(), await connect(), await connect()];
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await first.status()).toBe(200);
    const fourth = await connect();
    const statuses = [await first.status(), await second.status(), await third.status(), await fourth.status()];
    expect(statuses).toEqual([200, 404, 200, 200]);
  });

  it("keeps sessions with a stream or a call, and rejects a new one", async () => {
    const [listening, calling, another] = [await connect(), await connect(), await connect()];
    const streams = [await listening.listen(), await another.listen()];
    const answer = await calling.post({ id: 3, method: "tools/call", params: { name: "wait" } });
    await called.promise;
    const refused = await send("POST", {}, rpcRequest("initialize", INITIALIZE, 8));
    expect([refused.statusCode, JSON.parse(await textOf(refused)).id]).toEqual([503, 8]);
    release.resolve();
    expect(await textOf(answer)).toContain("waited");
    for (const stream of streams) stream.destroy();
  });

  it("counts sessions that are opened concurrently", async () => {
    const opened = await Promise.all(Array.from({ length: 8 }, () => connect()));
    const statuses = await Promise.all(opened.map((client) => client.status()));
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
  });
});
