import { describe, expect, test } from "vitest";
import { newEnvelope } from "../../protocol/testing/envelope.ts";
import { freePort } from "../../runtime/process/free-ports.ts";
import { rpcResponse, textResult } from "../testing/json-rpc.ts";
import {
  answer,
  connectionClosed,
  failure,
  message,
  peers,
  REPLY,
  REQUEST,
  type Script,
  scripted,
  status,
  success,
  usePeers,
} from "../testing/peer.ts";
import { startReverseProxy } from "../testing/reverse-proxy.ts";

usePeers();

const withResult = async (result: unknown) => message((await scripted((call) => answer(call, result))).url);

describe("message (PROTOCOL.md, section 2)", () => {
  test("sends tools/call of league_message with an integer id and the envelope as the arguments", async () => {
    const { url, calls } = await scripted(answer);
    expect(await message(`${url}?key=1`, { bearer: "token" })).toEqual(success);
    await message(url);
    expect(calls[0]?.body).toEqual({
      jsonrpc: "2.0",
      id: expect.any(Number),
      method: "tools/call",
      params: { name: "league_message", arguments: REQUEST },
    });
    expect(calls[0]?.request).toMatchObject({
      method: "POST",
      url: "/mcp?key=1",
      headers: { "content-type": "application/json", authorization: "Bearer token" },
    });
    expect(calls[1]?.request.headers).not.toHaveProperty("authorization");
    expect(Number.isInteger(calls[0]?.body.id) && calls[0]?.body.id !== calls[1]?.body.id).toBe(true);
  });

  const image = { type: "image", data: "…" };
  test.each<[string, unknown]>([
    ["a text", textResult(REPLY)],
    ["a text after other parts", { content: [image, ...textResult(REPLY).content] }],
    ["structured content without text", { structuredContent: REPLY }],
    [
      "structured content beside a text for people",
      { content: [{ type: "text", text: "I play rock!" }], structuredContent: REPLY },
    ],
    ["a result with unknown fields", { ...textResult({ ...REPLY, mood: "good" }), _meta: {} }],
  ])("reads the envelope from %s", async (_, result) => {
    expect(await withResult(result)).toEqual(success);
  });

  test("accepts an explicit null as the error of a successful response", async () => {
    const { url } = await scripted(
      ({ body, response }) =>
        void response.end(JSON.stringify({ ...rpcResponse(body.id, textResult(REPLY)), error: null })),
    );
    expect(await message(url)).toEqual(success);
  });

  test("returns the envelope of a rejection with isError", async () => {
    const rejection = newEnvelope("GAME_ERROR", "player:P01", { error_code: "G004" });
    expect(await withResult({ ...textResult(rejection), isError: true })).toEqual({ ok: true, value: rejection });
  });
});

test.each(["", "nonsense", "/mcp", "ftp://127.0.0.1/mcp", "file:///etc/passwd", "mailto:a@b.example", "http://"])(
  "the invalid endpoint %j is a fault",
  async (url) => {
    expect(await message(url)).toEqual(failure("refused"));
    expect(await peers.notify(url, REQUEST, { timeoutMs: 500 })).toEqual(failure("refused"));
    expect(await peers.probe(url, 500)).toBe("silent");
  },
);

describe("a proxy that cannot reach the agent", () => {
  test.each([502, 503, 504])("with status %i is repeated with retry until the agent listens", async (code) => {
    const proxy = await startReverseProxy(await freePort(), code);
    const failed = proxy.nextFailure();
    const reply = message(`${proxy.url}/mcp`, { retry: true, timeoutMs: 10_000 });
    await failed;
    await proxy.nextFailure();
    const agent = await scripted(answer);
    proxy.forwardTo(Number(new URL(agent.url).port));
    expect(await reply).toEqual(success);
    expect(agent.calls).toHaveLength(1);
  });

  test("is a refused connection at the time limit", async () => {
    const proxy = await startReverseProxy(await freePort());
    const reply = await message(`${proxy.url}/mcp`, { retry: true, timeoutMs: 300 });
    expect(reply).toEqual(failure("refused", expect.stringMatching(/^HTTP 502 without a JSON-RPC response/)));
    expect(reply).toMatchObject({ error: { raw: expect.stringContaining("Bad Gateway"), status: 502 } });
    expect(proxy.failures()).toBeGreaterThan(1);
  });

  test("is not an agent that answers 503 in JSON-RPC, which is called once", async () => {
    const error = { code: -32000, message: "overloaded" };
    const { url, calls } = await scripted(status(503, JSON.stringify({ jsonrpc: "2.0", id: 1, error })));
    expect(await message(url, { retry: true, timeoutMs: 5_000 })).toEqual(
      failure("http_error", "HTTP 503, JSON-RPC error -32000: overloaded"),
    );
    expect(calls).toHaveLength(1);
  });
});

describe("the time limit of a call by POST", () => {
  const head: Script = ({ response }) => void response.writeHead(200).write("{");
  const drip: Script = ({ response }) => {
    const timer = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(timer));
  };

  test.each<[string, Script]>([
    ["does not answer", () => {}],
    ["sends only the head of its answer", head],
    ["sends its answer without an end", drip],
  ])("ends a call to a server that %s and closes the connection", async (_, script) => {
    const { url, calls } = await scripted(script);
    expect(await message(url, { timeoutMs: 100, retry: true })).toEqual(
      failure("timeout", expect.stringMatching(/^no answer within \d+ ms$/)),
    );
    await connectionClosed(calls[0]);
    expect(calls).toHaveLength(1);
  });
});

test("close makes later calls fail, and may be called twice", async () => {
  const { url, calls } = await scripted(answer);
  await peers.close();
  await peers.close();
  expect(await message(url)).toEqual(failure("refused"));
  expect(await peers.probe(url, 500)).toBe("silent");
  expect(calls).toEqual([]);
});
