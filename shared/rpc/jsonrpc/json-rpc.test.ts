import type { Server } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { httpEndpoint } from "#shared/rpc/http/http-server.ts";
import { Unavailable } from "../../lib/unavailable.ts";
import { rpcNotification, rpcRequest, rpcResponse } from "../testing/json-rpc.ts";
import { listenOnLoopback } from "../testing/loopback.ts";
import { jsonRpc, type Method, rpcError } from "./json-rpc.ts";

const internalErrors: unknown[] = [];
const calls: unknown[] = [];
const methods: Record<string, Method> = {
  echo: (params) => params ?? null,
  note: (params) => calls.push(params),
  reject: (params) => {
    throw rpcError(-32602, "Invalid params", { faults: [{ path: "player.name", message: "must be text" }], params });
  },
  serverError: () => {
    throw rpcError(-32001, "server error");
  },
  crash: async () => {
    throw new Error("secret: /srv/league/tokens");
  },
  busy: async () => {
    throw new Unavailable("the database does not answer");
  },
  unwritable: () => ({ big: 1n }),
  nothing: () => undefined,
};

let server: Server;
let url = "";

beforeAll(async () => {
  const rpc = jsonRpc(methods, (error) => internalErrors.push(error));
  const web = () => Promise.reject(new Error("no pages here"));
  server = httpEndpoint({ handler: rpc.answer, web, bodyLimit: () => 256 * 1024, allowedHosts: [] });
  url = `http://127.0.0.1:${await listenOnLoopback(server)}/mcp`;
});
afterEach(() => {
  internalErrors.length = 0;
  calls.length = 0;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function send(body: string): Promise<{ status: number; headers: Headers; text: string }> {
  const reply = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

async function ask(message: unknown): Promise<[status: number, answer: unknown]> {
  const { status, text } = await send(typeof message === "string" ? message : JSON.stringify(message));
  return [status, text === "" ? "" : JSON.parse(text)];
}
const failure = (id: unknown, code: number) => ({ jsonrpc: "2.0", id, error: expect.objectContaining({ code }) });

describe("a JSON-RPC server that reports an error (PROTOCOL.md, section 4)", () => {
  test.each(["", " ", "{", "no JSON", "{'id': 1}", "[1,", '{"jsonrpc":"2.0","id":1,"method":"echo"}}'])(
    "answers the body %j with a parse error: status 400, code -32700",
    async (body) => {
      expect(await ask(body)).toEqual([400, failure(null, -32700)]);
    },
  );

  test("ignores a byte order mark at the start of a body", async () => {
    expect(await ask(`\uFEFF${JSON.stringify(rpcRequest("echo", [7]))}`)).toEqual([
      200,
      expect.objectContaining({ id: 1 }),
    ]);
    expect(await ask("\uFEFF{")).toEqual([400, failure(null, -32700)]);
  });

  test.each<[unknown, unknown]>([
    [null, null],
    ["text", null],
    [7, null],
    [{}, null],
    [{ id: 7, method: "echo" }, 7],
    [{ ...rpcRequest("echo"), jsonrpc: "1.0" }, 1],
    [{ jsonrpc: "2.0", id: "a" }, "a"],
    [{ jsonrpc: "2.0", id: 1, method: 7 }, 1],
    [rpcRequest("echo", "text"), 1],
    [rpcRequest("echo", [], {}), null],
    [rpcRequest("echo", [], ["a"]), null],
    [rpcRequest("echo", [], true), null],
  ])("answers the body %j with the error of an invalid request: status 400, code -32600", async (message, id) => {
    expect(await ask(JSON.stringify(message))).toEqual([400, failure(id, -32600)]);
  });

  test.each(["nope", "", "Echo", "toString", "constructor", "__proto__"])(
    "answers the unknown method %j with status 404 and code -32601",
    async (method) => {
      expect(await ask(rpcRequest(method))).toEqual([404, failure(1, -32601)]);
    },
  );

  test("answers invalid params with status 200, code -32602 and the path of each fault in error.data", async () => {
    const [status, answer] = await ask(rpcRequest("reject", { a: 1 }));
    const data = { faults: [{ path: "player.name", message: "must be text" }], params: { a: 1 } };
    expect([status, answer]).toEqual([
      200,
      { jsonrpc: "2.0", id: 1, error: { code: -32602, message: "Invalid params", data } },
    ]);
    expect(await ask(rpcRequest("serverError"))).toEqual([
      200,
      { jsonrpc: "2.0", id: 1, error: { code: -32001, message: "server error" } },
    ]);
    expect(internalErrors).toEqual([]);
  });

  test("answers an internal error with status 500 and code -32603, and reports its cause to onInternalError only", async () => {
    const internal = { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } };
    expect(await ask(rpcRequest("crash"))).toEqual([500, internal]);
    expect(internalErrors).toEqual([new Error("secret: /srv/league/tokens")]);
  });

  test("answers with the text of an error that will pass", async () => {
    const [status, answer] = await ask(rpcRequest("busy"));
    expect(status).toBe(500);
    expect(answer).toMatchObject({ error: { code: -32603, message: "the database does not answer; try again later" } });
  });

  test("answers a result that cannot be written as JSON with an internal error", async () => {
    const reported: unknown[] = [];
    const rpc = jsonRpc(methods, (error) => reported.push(error));
    const http = { bearer: null, remoteAddress: "" };
    const answers = [rpcRequest("unwritable"), [rpcRequest("unwritable"), rpcRequest("echo", [1], 2)]].map((message) =>
      rpc.answer(JSON.stringify(message), http),
    );
    const [single, batch] = await Promise.all(answers);
    expect([single?.status, JSON.parse(single?.body ?? "")]).toEqual([500, failure(1, -32603)]);
    expect(JSON.parse(batch?.body ?? "")).toEqual([failure(1, -32603), rpcResponse(2, [1])]);
    expect(reported).toHaveLength(2);
  });
});

describe("a JSON-RPC server", () => {
  test("answers with the result as JSON and a Content-Length; an undefined result is null", async () => {
    const reply = await send(JSON.stringify(rpcRequest("echo", { text: "é☃" })));
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(reply.headers.get("content-length")).toBe(String(Buffer.byteLength(reply.text)));
    expect(JSON.parse(reply.text)).toEqual(rpcResponse(1, { text: "é☃" }));
    expect(await ask(rpcRequest("nothing"))).toEqual([200, rpcResponse(1, null)]);
  });

  test.each([0, -1, 1.5, "", "text", null, Number.MAX_SAFE_INTEGER, "i".repeat(10_000)])(
    "returns the id %j unchanged",
    async (id) => {
      expect(await ask(rpcRequest("echo", [id], id))).toEqual([200, rpcResponse(id, [id])]);
    },
  );

  test("processes a notification and answers it with 202 without a body", async () => {
    const reply = await send(JSON.stringify(rpcNotification("note", { tick: 1 })));
    expect([reply.status, reply.text, reply.headers.get("content-length")]).toEqual([202, "", "0"]);
    expect(calls).toEqual([{ tick: 1 }]);
  });

  test.each(["nope", "reject", "crash"])(
    "answers a failed notification with 202 without a body (%s)",
    async (method) => {
      expect(await ask(rpcNotification(method))).toEqual([202, ""]);
    },
  );

  test("reports the internal error of a notification to onInternalError", async () => {
    await ask(rpcNotification("crash"));
    expect(internalErrors).toEqual([new Error("secret: /srv/league/tokens")]);
  });

  test("answers a batch with status 200 and an element for each request, but none for a notification", async () => {
    const batch = [
      rpcRequest("echo", [1], 1),
      rpcNotification("note", [2]),
      7,
      rpcRequest("nope", [], "x"),
      rpcRequest("crash", [], 5),
      null,
      [rpcRequest("echo")],
      rpcRequest("echo", {}, null),
    ];
    const answers = [
      rpcResponse(1, [1]),
      failure(null, -32600),
      failure("x", -32601),
      failure(5, -32603),
      failure(null, -32600),
      failure(null, -32600),
    ];
    expect(await ask(batch)).toEqual([200, [...answers, rpcResponse(null, {})]]);
    expect(calls).toEqual([[2]]);
  });

  test("answers a batch of one request with an array", async () => {
    expect(await ask([rpcRequest("echo", [1])])).toEqual([200, [rpcResponse(1, [1])]]);
    expect(await ask([null])).toEqual([200, [failure(null, -32600)]]);
  });

  test("rejects an empty batch, and answers a batch of notifications with 202 without a body", async () => {
    expect(await ask([])).toEqual([400, failure(null, -32600)]);
    expect(await ask([rpcNotification("note", [1]), rpcNotification("note", [2])])).toEqual([202, ""]);
    expect(calls).toEqual([[1], [2]]);
  });

  test("accepts a batch of 100 requests and rejects a larger one", async () => {
    const [status, answers] = await ask(Array.from({ length: 100 }, (_, id) => rpcRequest("echo", [], id)));
    expect([status, (answers as unknown[]).length]).toEqual([200, 100]);
    expect(await ask(Array(101).fill(rpcNotification("note")))).toEqual([400, failure(null, -32600)]);
    expect(calls).toEqual([]);
  });
});

describe("an unusual JSON body", () => {
  test("with __proto__ keys changes no prototype", async () => {
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
    ["that are not closed", "[".repeat(200_000), 400],
  ])("with 100,000 brackets %s is answered, and so is the next request", async (_, body, status) => {
    expect((await send(body)).status).toBe(status);
    expect(await ask(rpcRequest("echo", [1]))).toEqual([200, rpcResponse(1, [1])]);
  });
});
