import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { httpEndpoint } from "./http-endpoint.ts";
import { jsonRpc, type Method, rpcError } from "./json-rpc.ts";

const LIMIT = 256 * 1024;
const LONG = 1024 * 1024;

const internalErrors: unknown[] = [];
const calls: unknown[] = [];
const methods: Record<string, Method> = {
  echo: (params) => params ?? null,
  note: (params) => calls.push(params),
  refuse: (params) => {
    throw rpcError(-32602, "Invalid params", { faults: [{ path: "player.name", message: "must be text" }], params });
  },
  own: () => {
    throw rpcError(-32001, "our own code");
  },
  crash: async () => {
    throw new Error("secret: /srv/league/tokens");
  },
  unwritable: () => ({ big: 1n }),
  nothing: () => undefined,
};

let server: Server;
let port = 0;
let webLoads = 0;

beforeAll(async () => {
  const rpc = jsonRpc(methods, (error) => internalErrors.push(error));
  server = httpEndpoint({
    door: (body, http) => rpc.answer(body, http),
    web: async () => {
      webLoads += 1;
      return (request, response) => void response.end(`page ${request.url}`);
    },
    bodyLimit: ({ bearer }) => (bearer === "referee" ? LONG : LIMIT),
    allowedHosts: ["league.example", "fd00::5"],
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  internalErrors.length = 0;
  calls.length = 0;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}
interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
}

const JSON_BODY = { "content-type": "application/json" };

async function send(
  body: string | readonly string[],
  { method = "POST", path = "/mcp", headers = {} }: Sent = {},
): Promise<Reply> {
  const request = httpRequest({
    host: "127.0.0.1",
    port,
    method,
    path,
    agent: false,
    headers: { ...JSON_BODY, ...headers },
  });
  const answered = once(request, "response");
  if (typeof body === "string") request.end(body);
  else {
    for (const chunk of body) request.write(chunk);
    request.end();
  }
  const [response] = await answered;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString("utf8") };
}

const call = (method: string, params?: unknown, id: unknown = 1) => ({ jsonrpc: "2.0", id, method, params });
const note = (method: string, params?: unknown) => ({ jsonrpc: "2.0", method, params });

async function ask(message: unknown): Promise<[status: number, answer: unknown]> {
  const { status, text } = await send(typeof message === "string" ? message : JSON.stringify(message));
  return [status, text === "" ? "" : JSON.parse(text)];
}
const failure = (id: unknown, code: number) => ({ jsonrpc: "2.0", id, error: expect.objectContaining({ code }) });
const success = (id: unknown, result: unknown) => ({ jsonrpc: "2.0", id, result });

describe("errors (PROTOCOL.md, section 4; league-api.md, Standard Error Codes)", () => {
  test.each(["", " ", "{", "no JSON", "{'id': 1}", "[1,", '{"jsonrpc":"2.0","id":1,"method":"echo"}}', "\uFEFF{}"])(
    "%j is a parse error: 400, -32700",
    async (body) => {
      expect(await ask(body)).toEqual([400, failure(null, -32700)]);
    },
  );

  test.each<[unknown, unknown]>([
    [null, null],
    ["text", null],
    [7, null],
    [{}, null],
    [{ id: 7, method: "echo" }, 7],
    [{ ...call("echo"), jsonrpc: "1.0" }, 1],
    [{ jsonrpc: "2.0", id: "a" }, "a"],
    [{ jsonrpc: "2.0", id: 1, method: 7 }, 1],
    [call("echo", "text"), 1],
    [call("echo", [], {}), null],
    [call("echo", [], ["a"]), null],
    [call("echo", [], true), null],
  ])("%j is an invalid request: 400, -32600", async (message, id) => {
    expect(await ask(JSON.stringify(message))).toEqual([400, failure(id, -32600)]);
  });

  test.each(["nope", "", "Echo", "toString", "constructor", "__proto__"])(
    "method %j is not found: 404, -32601",
    async (method) => {
      expect(await ask(call(method))).toEqual([404, failure(1, -32601)]);
    },
  );

  test("invalid params: 200, -32602, with the path of each fault in error.data", async () => {
    const [status, answer] = await ask(call("refuse", { a: 1 }));
    const data = { faults: [{ path: "player.name", message: "must be text" }], params: { a: 1 } };
    expect([status, answer]).toEqual([
      200,
      { jsonrpc: "2.0", id: 1, error: { code: -32602, message: "Invalid params", data } },
    ]);
    expect(await ask(call("own"))).toEqual([
      200,
      { jsonrpc: "2.0", id: 1, error: { code: -32001, message: "our own code" } },
    ]);
    expect(internalErrors).toEqual([]);
  });

  test("internal error: 500, -32603, nothing of the inside; that is told to us", async () => {
    const internal = { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } };
    expect(await ask(call("crash"))).toEqual([500, internal]);
    expect(internalErrors).toEqual([new Error("secret: /srv/league/tokens")]);
  });

  test("answer never rejects: a result that is no JSON is an internal error", async () => {
    const told: unknown[] = [];
    const rpc = jsonRpc(methods, (error) => told.push(error));
    const http = { bearer: null, remoteAddress: "" };
    const answers = [call("unwritable"), [call("unwritable"), call("echo", [1], 2)]].map((one) =>
      rpc.answer(JSON.stringify(one), http),
    );
    const [single, batch] = await Promise.all(answers);
    expect([single?.status, JSON.parse(single?.body ?? "")]).toEqual([500, failure(1, -32603)]);
    expect(JSON.parse(batch?.body ?? "")).toEqual([failure(1, -32603), success(2, [1])]);
    expect(told).toHaveLength(2);
  });
});

describe("requests, notifications and batches", () => {
  test("a result goes out as JSON with its length; no result is null", async () => {
    const reply = await send(JSON.stringify(call("echo", { text: "é☃" })));
    expect(reply).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
    expect(reply.headers["content-length"]).toBe(String(Buffer.byteLength(reply.text)));
    expect(JSON.parse(reply.text)).toEqual(success(1, { text: "é☃" }));
    expect(await ask(call("nothing"))).toEqual([200, success(1, null)]);
  });

  test.each([0, -1, 1.5, "", "text", null, Number.MAX_SAFE_INTEGER, "i".repeat(10_000)])(
    "id %j comes back as it was",
    async (id) => {
      expect(await ask(call("echo", [id], id))).toEqual([200, success(id, [id])]);
    },
  );

  test("a notification is carried out and answered by 202 without a body", async () => {
    const reply = await send(JSON.stringify(note("note", { tick: 1 })));
    expect([reply.status, reply.text, reply.headers["content-length"]]).toEqual([202, "", "0"]);
    expect(calls).toEqual([{ tick: 1 }]);
  });

  test.each(["nope", "refuse", "crash"])("a notification that fails (%s) is not answered either", async (method) => {
    expect(await ask(note(method))).toEqual([202, ""]);
  });

  test("but an internal error in it is told to us", async () => {
    await ask(note("crash"));
    expect(internalErrors).toEqual([new Error("secret: /srv/league/tokens")]);
  });

  test("a mixed batch: 200, an answer for each request, none for a notification", async () => {
    const batch = [
      call("echo", [1], 1),
      note("note", [2]),
      7,
      call("nope", [], "x"),
      call("crash", [], 5),
      null,
      [call("echo")],
      call("echo", {}, null),
    ];
    const answers = [
      success(1, [1]),
      failure(null, -32600),
      failure("x", -32601),
      failure(5, -32603),
      failure(null, -32600),
      failure(null, -32600),
    ];
    expect(await ask(batch)).toEqual([200, [...answers, success(null, {})]]);
    expect(calls).toEqual([[2]]);
  });

  test("a batch of one is answered as an array", async () => {
    expect(await ask([call("echo", [1])])).toEqual([200, [success(1, [1])]]);
    expect(await ask([null])).toEqual([200, [failure(null, -32600)]]);
  });

  test("an empty batch is an invalid request, one of notifications has no answer", async () => {
    expect(await ask([])).toEqual([400, failure(null, -32600)]);
    expect(await ask([note("note", [1]), note("note", [2])])).toEqual([202, ""]);
    expect(calls).toEqual([[1], [2]]);
  });

  test("a batch has a limit", async () => {
    const [status, answers] = await ask(Array.from({ length: 100 }, (_, id) => call("echo", [], id)));
    expect([status, (answers as unknown[]).length]).toEqual([200, 100]);
    expect(await ask(Array(101).fill(note("note")))).toEqual([400, failure(null, -32600)]);
    expect(calls).toEqual([]);
  });
});

describe("odd but well-formed bodies", () => {
  test("__proto__ keys change nothing but themselves", async () => {
    const body =
      '{"__proto__":{"method":"crash"},"jsonrpc":"2.0","id":1,"method":"echo","params":{"__proto__":{"polluted":1}}}';
    const { status, text } = await send(body);
    expect([status, text]).toEqual([200, '{"jsonrpc":"2.0","id":1,"result":{"__proto__":{"polluted":1}}}']);
    expect(await ask('{"__proto__":{"jsonrpc":"2.0","method":"echo","id":1}}')).toEqual([400, failure(null, -32600)]);
    expect("polluted" in {}).toBe(false);
  });

  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  test.each([
    ["as the message", deep, 200],
    ["as params", `{"jsonrpc":"2.0","id":1,"method":"echo","params":${deep}}`, 200],
    ["as the id", `{"jsonrpc":"2.0","id":${deep},"method":"echo"}`, 400],
    ["never closed", "[".repeat(200_000), 400],
  ])("100,000 brackets %s are answered", async (_, body, status) => {
    expect((await send(body)).status).toBe(status);
    expect(await ask(call("echo", [1]))).toEqual([200, success(1, [1])]);
  });
});

describe("the door (PROTOCOL.md, section 3: body limit, Host and Origin, JSON content type)", () => {
  const body = JSON.stringify(call("echo", []));
  const statusOf = async (headers: OutgoingHttpHeaders, sent: Sent = {}) =>
    (await send(body, { ...sent, headers })).status;

  test.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "text/json", ""])(
    "content type %j: 415",
    async (type) => {
      expect(await statusOf({ "content-type": type })).toBe(415);
    },
  );

  test.each([
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "application/json;charset=utf-8",
  ])("content type %j is taken", async (type) => {
    expect(await statusOf({ "content-type": type })).toBe(200);
  });

  test.each([
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example:80",
    "10.0.0.1",
    "evil.example#localhost",
    "",
  ])("Host %j: 403, for pages too", async (host) => {
    expect([await statusOf({ host }), await statusOf({ host }, { method: "GET", path: "/" })]).toEqual([403, 403]);
  });

  test.each([
    "http://evil.example",
    "https://localhost.evil.example",
    "http://evil.example/localhost",
    "null",
    "file://",
    "",
  ])("Origin %j: 403", async (origin) => {
    expect(await statusOf({ origin })).toBe(403);
  });

  test.each([
    "localhost",
    "LOCALHOST:8000",
    "127.0.0.1:1",
    "[::1]:8000",
    "league.example",
    "League.example:80",
    "[fd00::5]:8000",
  ])("Host and Origin %s are our own", async (host) => {
    expect([await statusOf({ host }), await statusOf({ origin: `http://${host}` })]).toEqual([200, 200]);
  });

  test.each(["GET", "PUT", "DELETE", "OPTIONS"])("%s: 405, and what is allowed", async (method) => {
    const reply = await send("", { method });
    expect([reply.status, reply.headers.allow]).toEqual([405, "POST"]);
  });

  const padded = (bytes: number) => body.padEnd(bytes, " ");
  const halves = (bytes: number) => [padded(bytes - 1_000), " ".repeat(1_000)];

  test.each([
    ["content-length", padded],
    ["chunks", halves],
  ] as const)("a body by %s: the limit is taken, a byte more is 413", async (_, make) => {
    expect((await send(make(LIMIT))).status).toBe(200);
    const refused = await send(make(LIMIT + 1));
    expect([refused.status, refused.headers.connection]).toEqual([413, "close"]);
  });

  test("the limit is the caller's own", async () => {
    const headers = { authorization: "Bearer referee" };
    expect((await send(padded(LONG), { headers })).status).toBe(200);
    expect((await send(padded(LONG + 1), { headers })).status).toBe(413);
  });

  test("a far too large body is told so, though it is not read to its end", async () => {
    expect((await send(padded(8 * LONG))).status).toBe(413);
  });

  test("a connection lost in the middle of a body harms nobody", async () => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.end(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"jsonrpc"`,
    );
    socket.resume();
    await once(socket, "close");
    expect(await ask(call("echo", [1]))).toEqual([200, success(1, [1])]);
  });

  test("every other path is the web's, loaded once, when first asked for", async () => {
    const paths = ["/", "/mcp/", "/mcpx", "/health?a=/mcp"];
    const pages = await Promise.all(paths.map((path) => send("", { method: "GET", path })));
    expect(pages.map((page) => page.text)).toEqual(paths.map((path) => `page ${path}`));
    expect(webLoads).toBe(1);
    expect((await send(body, { path: "/mcp?x=1" })).status).toBe(200);
  });
});
