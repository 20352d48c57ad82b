import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { manualClock } from "../../lib/testing/clock.ts";
import { listenOnLoopback } from "../testing/loopback.ts";
import {
  connectBridge,
  INITIALIZE,
  STATELESS,
  startTestServer,
  type TestServer,
  type TestWire,
  type Wire,
} from "../testing/stdio.ts";

let server: TestServer;
let wire: Awaited<ReturnType<typeof connectBridge>>;
let isUp = true;
const errors: unknown[] = [];
beforeEach(async () => {
  server = await startTestServer((error) => errors.push(error));
  wire = await connectBridge(server.url);
  isUp = true;
});
afterEach(async () => {
  await wire.close();
  if (isUp) await server.kill();
  expect(errors.splice(0)).toEqual([]);
});
const kill = (): Promise<void> => {
  isUp = false;
  return server.kill();
};
const restart = (): Promise<void> => {
  isUp = true;
  return server.start();
};

const called = async (count: number): Promise<void> => {
  while (server.calls.length < count) await new Promise((resolve) => setImmediate(resolve));
};
const isAbout =
  (uri: string) =>
  ({ method, params }: Wire): boolean =>
    method === "notifications/resources/updated" && params.uri === uri;
const initialize = async (): Promise<void> => {
  await wire.ask("init", "initialize", INITIALIZE);
  wire.send({ method: "notifications/initialized" });
};

/** The same tests for both eras: the parameters of each request, the first messages and the subscription. */
const ERAS = {
  "2025-11-25": {
    extra: {},
    begin: initialize,
    async subscribe() {
      expect((await wire.ask("sub", "resources/subscribe", { uri: "test://state" })).result).toEqual({});
    },
  },
  "2026-07-28": {
    extra: STATELESS,
    begin: async () => {},
    async subscribe() {
      const params = { ...STATELESS, notifications: { resourceSubscriptions: ["test://state"] } };
      wire.send({ id: "listen:0", method: "subscriptions/listen", params });
      await wire.next(({ method }) => method === "notifications/subscriptions/acknowledged");
    },
  },
} as const;

describe.each(Object.keys(ERAS) as (keyof typeof ERAS)[])("a bridge at %s", (revision) => {
  const { extra, begin, subscribe } = ERAS[revision];
  beforeEach(begin);

  it("forwards answers and progress", async () => {
    expect((await wire.ask(1, "tools/list", extra)).result.tools.at(-1)).toMatchObject({ name: "wait" });
    expect((await wire.ask("two", "resources/read", { ...extra, uri: "test://state" })).result).toMatchObject({
      contents: [{ text: '{"state":true}' }],
    });
    expect((await wire.ask(3, "no/such", extra)).error.code).toBe(-32601);
    const { _meta } = { _meta: {}, ...extra };
    const params = { name: "count", arguments: {}, _meta: { ..._meta, progressToken: "p" } };
    expect((await wire.ask(4, "tools/call", params)).result.content[0].text).toBe("Done");
    const progress = wire.received.filter(({ method }) => method === "notifications/progress");
    expect(progress.map(({ params }) => [params.progressToken, params.progress])).toEqual([
      ["p", 0],
      ["p", 50],
      ["p", 100],
    ]);
  });

  it("cancels a request at the tool and does not answer it", async () => {
    wire.send({ id: 1, method: "tools/call", params: { ...extra, name: "wait" } });
    await called(1);
    wire.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    await server.calls[0]?.cancelled;
    await wire.ask(2, "tools/list", extra);
    expect(wire.received.filter(({ id }) => id === 1)).toEqual([]);
  });

  it("does not forward an answer that crosses its cancellation", async () => {
    wire.send({ id: 1, method: "resources/read", params: { ...extra, uri: "test://state" } });
    wire.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    for (const id of [2, 3]) await wire.ask(id, "tools/list", extra);
    expect(wire.received.filter(({ id }) => id === 1)).toEqual([]);
  });

  it("answers requests with an error while the server is down, and forwards them when it is back", async () => {
    wire.send({ id: 1, method: "tools/call", params: { ...extra, name: "wait" } });
    await called(1);
    await kill();
    const broken = await wire.next(({ id }) => id === 1);
    expect(broken.error).toMatchObject({
      code: -32000,
      message: expect.stringMatching(/broke before .* may have been/),
    });
    const [one, two] = await Promise.all([wire.ask(2, "tools/list", extra), wire.ask(3, "tools/list", extra)]);
    expect(one.error.message).toMatch(/127\.0\.0\.1:\d+\/mcp cannot be reached: connect ECONNREFUSED/);
    expect(two.error.code).toBe(-32000);
    await restart();
    expect((await wire.ask(4, "tools/list", extra)).result.tools).toBeInstanceOf(Array);
  });

  it("restores a subscription after a restart of the server and notifies the client", async () => {
    await subscribe();
    server.notifyChanged("test://state");
    const first = await wire.next(isAbout("test://state"));
    await kill();
    await restart();
    expect(await wire.next(isAbout("test://state"))).toEqual(first);
    server.notifyChanged("test://state");
    expect(await wire.next(isAbout("test://state"))).toEqual(first);
  });

  it("sends names that are not valid header values", async () => {
    for (const name of ["schach ♟", " x", "=?base64?eA==?=", ""]) {
      const { error } = await wire.ask(`n${name}`, "tools/call", { ...extra, name });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("Unknown tool") });
    }
  });

  it("forwards the rejection of a large request with the id of the request", async () => {
    const { error } = await wire.ask(1, "tools/call", { ...extra, name: "wait", arguments: { x: "x".repeat(70_000) } });
    expect(error).toMatchObject({ code: -32600, message: "Body too large" });
  });
});

describe("the session of a bridge", () => {
  const sample = { name: "sample", arguments: { prompt: "?" } };
  const isAsked = ({ method }: Wire): boolean => method === "sampling/createMessage";
  const answered = { role: "assistant", model: "m", content: { type: "text", text: "forty-two" } };

  it("carries a question of the server and its answer", async () => {
    await initialize();
    const call = wire.ask(1, "tools/call", sample);
    const { id } = await wire.next(isAsked);
    wire.send({ id, result: answered });
    expect(JSON.stringify(await call)).toContain("forty-two");
  });

  it("is replaced after a restart of the server, and its questions are cancelled", async () => {
    await initialize();
    const call = wire.ask(1, "tools/call", sample);
    const { id } = await wire.next(isAsked);
    await kill();
    expect((await call).error.code).toBe(-32000);
    await restart();
    expect(await wire.next(({ method }) => method === "notifications/cancelled")).toMatchObject({
      params: { requestId: id },
    });
    wire.send({ id, result: answered });
    const again = wire.ask(2, "tools/call", sample);
    const asked = await wire.next(isAsked);
    wire.send({ id: asked.id, result: answered });
    expect((await again).result.content[0].text).toContain("forty-two");
    expect(wire.log.at(-1)).toMatch(/had lost the session/);
  });

  it("sends messages after the handshake only", async () => {
    wire.send({ id: 0, method: "initialize", params: INITIALIZE }, { method: "notifications/initialized" });
    wire.send({ id: 1, method: "resources/subscribe", params: { uri: "test://state" } });
    expect((await wire.next(({ id }) => id === 1)).result).toEqual({});
    expect(wire.received.map(({ id }) => id)).toEqual([0, 1]);
  });

  it("can be initialized a second time, without the earlier subscriptions", async () => {
    await initialize();
    await wire.ask(1, "resources/subscribe", { uri: "test://state" });
    await initialize();
    await wire.ask(2, "resources/subscribe", { uri: "test://other" });
    server.notifyChanged("test://state");
    server.notifyChanged("test://other");
    await wire.next(isAbout("test://other"));
    expect(wire.received.filter(isAbout("test://state"))).toEqual([]);
  });

  it("cannot be initialized while the server is down, and can be when it is back", async () => {
    await kill();
    expect((await wire.ask(0, "initialize", INITIALIZE)).error.message).toMatch(/cannot be reached/);
    await restart();
    expect((await wire.ask(1, "initialize", INITIALIZE)).result.serverInfo.name).toBe("test");
  });
});

describe("the end of the input", () => {
  it("does not prevent the answers to requests under way", async () => {
    wire.input.end('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    await wire.ended;
    expect(wire.received).toMatchObject([{ id: 1, result: {} }]);
  });

  it("cancels a request that is not answered within a second", async () => {
    wire.send({ id: 1, method: "tools/call", params: { ...STATELESS, name: "wait" } });
    await called(1);
    wire.input.end();
    await wire.ended;
    await wire.close();
    await server.calls[0]?.cancelled;
    expect(wire.received).toEqual([]);
  });
});

describe("a server that does not implement MCP", () => {
  let otherServer: Server;
  const serve = async (listener: RequestListener): Promise<void> => {
    otherServer = createServer(listener);
    await listenOnLoopback(otherServer);
  };
  const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const connect = async (listener: RequestListener): Promise<TestWire> => {
    await serve(listener);
    return connectBridge(urlOf(otherServer));
  };
  afterEach(() => {
    otherServer.closeAllConnections();
    otherServer.close();
  });

  const stream = { "content-type": "text/event-stream" };
  const ended = /ended its reply without an answer/;
  test.each<[string, RequestListener, RegExp]>([
    ["answers with a page", (_, response) => response.end("<html>"), ended],
    [
      "answers with HTTP status 500",
      (_, response) => response.writeHead(500).end("<html>"),
      /answered with HTTP status 500/,
    ],
    ["answers with an empty stream", (_, response) => response.writeHead(200, stream).end(), ended],
    [
      "answers with a stream of invalid messages",
      (_, response) => response.writeHead(200, stream).end("data: {}\n\nid: 1\ndata: [\n\n"),
      ended,
    ],
    ["closes the connection", (request) => request.socket.destroy(), /broke before it had answered/],
    [
      "breaks off within an answer",
      (_, response) => response.write('{"jsonrpc"', () => response.destroy()),
      /broke before/,
    ],
    [
      "answers with a message of 17 MB",
      (_, response) => response.writeHead(200, stream).end(`data: ${"x".repeat(17_000_000)}`),
      /broke before.*16777216/,
    ],
  ])("that %s causes an error for the request", async (_name, listener, expected) => {
    const other = await connect(listener);
    expect((await other.ask(1, "tools/list")).error.message).toMatch(expected);
    await other.close();
  });

  it("that sends nothing for a minute is reported as silent", async () => {
    const asked = Promise.withResolvers<void>();
    await serve(() => asked.resolve());
    const clock = manualClock();
    const other = await connectBridge(urlOf(otherServer), clock);
    const answer = other.ask(1, "tools/list");
    await asked.promise;
    await clock.advance(60_000);
    expect((await answer).error.message).toMatch(/has sent nothing for 60 s/);
    await other.close();
  });

  it("may use every form of event stream lines", async () => {
    const parts = [
      ": hello\r\n",
      'event: message\r\ndata: {\r\ndata:"jsonrpc": "2.0", "id": 1,\r\n',
      'data: "result": {"a": "ü',
      '"}}\r\n\r',
      "\n",
    ];
    const other = await connect((_, response) => {
      response.writeHead(200, stream);
      for (const part of parts) response.write(part);
      response.end();
    });
    expect((await other.ask(1, "tools/list")).result).toEqual({ a: "ü" });
    await other.close();
  });
});
