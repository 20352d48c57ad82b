import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { newEnvelope } from "../../protocol/testing/envelope.ts";
import { rpcResponse, textResult } from "../testing/json-rpc.ts";
import {
  answer,
  type Call,
  closedPort,
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

  test("has 20 calls to one endpoint under way at the same time", async () => {
    const received: Call[] = [];
    const { url } = await scripted((call) => {
      received.push(call);
      if (received.length === 20) for (const unanswered of received.toReversed()) answer(unanswered);
    });
    expect(await Promise.all(Array.from({ length: 20 }, () => message(url)))).toEqual(Array(20).fill(success));
  });
});

describe("a refused or broken connection", () => {
  test("is a fault without a repetition by default", async () => {
    const url = `http://127.0.0.1:${await closedPort()}/mcp`;
    expect(await message(url, { timeoutMs: 20_000 })).toEqual(failure("refused", "connection refused"));
  });

  test("is a fault after the time limit with retry", async () => {
    const [url, startMs] = [`http://127.0.0.1:${await closedPort()}/mcp`, performance.now()];
    expect(await message(url, { timeoutMs: 200, retry: true })).toEqual(failure("refused"));
    expect(performance.now() - startMs).toBeGreaterThan(45);
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });

  test("is repeated with retry until a server listens", async () => {
    const port = await closedPort();
    const reply = message(`http://127.0.0.1:${port}/mcp`, { retry: true, timeoutMs: 10_000 });
    await new Promise((resolve) => setTimeout(resolve, 60));
    await scripted(answer, port);
    expect(await reply).toEqual(success);
  });

  /** Closes the connection of the first request with an id, and answers the second one. */
  const dropFirst: Script = (call) => {
    if (call.body.id !== droppedId) call.request.socket.destroy();
    else answer(call);
    droppedId = call.body.id;
  };
  let droppedId = 0;

  test("before the answer is repeated only with retry", async () => {
    const { url, calls } = await scripted(dropFirst);
    expect(await message(url)).toEqual(failure("refused"));
    expect(calls).toHaveLength(1);
    expect(await message(url, { retry: true })).toEqual(success);
    expect(calls.map((call) => call.body.id)).toEqual([1, 2, 2]);
  });

  test("within the answer is a fault", async () => {
    const { url } = await scripted(({ request, response }) => {
      response.writeHead(200, { "content-length": 1_000 });
      response.write('{"jsonrpc"', () => request.socket.destroy());
    });
    expect(await message(url)).toEqual(failure("refused", expect.stringMatching(/^connection (closed|reset)/)));
  });

  test.each(["", "nonsense", "/mcp", "ftp://127.0.0.1/mcp", "file:///etc/passwd", "mailto:a@b.example", "http://"])(
    "is a fault for the invalid endpoint %j",
    async (url) => {
      expect(await message(url)).toEqual(failure("refused"));
      expect(await peers.notify(url, REQUEST, { timeoutMs: 500 })).toEqual(failure("refused"));
      expect(await peers.isAlive(url, 500)).toBe(false);
    },
  );
});

describe("a proxy that cannot reach the agent", () => {
  test.each([502, 503, 504])("with status %i is repeated with retry until the agent listens", async (code) => {
    const proxy = await startReverseProxy(await closedPort(), code);
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
    const proxy = await startReverseProxy(await closedPort());
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

describe("the time limit of a call", () => {
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

  test("is shared by all attempts: a repetition has the remaining time", async () => {
    const { url } = await scripted(({ request }) => {
      if (calls++ === 0) request.socket.destroy();
    });
    let calls = 0;
    const reply = await message(url, { timeoutMs: 200, retry: true });
    const limitMs = Number(/^no answer within (\d+) ms$/.exec(reply.ok ? "" : reply.error.detail)?.[1]);
    expect(limitMs).toBeLessThan(200);
  });

  test("does not reject an answer that is in the socket buffer when the timer of a busy process fires late", async () => {
    const timeoutMs = 200;
    const { url } = await scripted((call) => {
      answer(call);
      const startMs = performance.now();
      // Keeps the process busy past the time limit, before it can read the answer.
      const spin = (): void => {
        while (performance.now() - startMs < timeoutMs + 5);
      };
      if (isBusy) process.nextTick(() => process.nextTick(spin));
    });
    let isBusy = false;
    await message(url);
    isBusy = true;
    expect(await message(url, { timeoutMs })).toEqual(success);
  });
});

describe("a cancelled call", () => {
  test("ends as a fault, and its connection is closed", async () => {
    const abort = new AbortController();
    const { url, calls } = await scripted(() => abort.abort());
    expect(await message(url, { signal: abort.signal, retry: true })).toEqual(
      failure("timeout", "the call was cancelled"),
    );
    await connectionClosed(calls[0]);
  });

  test("is not sent if its connection is not open yet", async () => {
    const { url, calls } = await scripted(answer);
    const abort = new AbortController();
    const call = () => message(url, { signal: abort.signal });
    const cancelled = [call(), call()];
    abort.abort();
    expect(await Promise.all(cancelled)).toEqual(Array(2).fill(failure("timeout", "the call was cancelled")));
    expect(await message(url)).toEqual(success);
    expect(calls.map(({ body }) => body.id)).toEqual([3]);
  });

  test("is not sent if the signal is aborted before the call", async () => {
    const { url, calls } = await scripted(() => {});
    expect(await message(url, { signal: AbortSignal.abort(), timeoutMs: 300 })).toEqual(
      failure("timeout", "the call was cancelled"),
    );
    expect(calls).toEqual([]);
  });
});

describe("close", () => {
  test("closes idle connections", async () => {
    const { url, sockets } = await scripted(answer);
    await message(url);
    expect(sockets.size).toBe(1);
    const closed = [...sockets].map((socket) => once(socket, "close"));
    await peers.close();
    await Promise.all(closed);
    expect(sockets.size).toBe(0);
  });

  test.each([true, false])("ends a call under way and does not repeat it (retry: %s)", async (retry) => {
    const arrival = Promise.withResolvers<void>();
    const { url, calls, sockets } = await scripted(() => arrival.resolve());
    const reply = message(url, { timeoutMs: 2_000, retry });
    await arrival.promise;
    const startMs = performance.now();
    await peers.close();
    expect(await reply).toEqual(failure("refused"));
    expect(performance.now() - startMs).toBeLessThan(1_000);
    await connectionClosed(calls[0]);
    expect([calls.length, sockets.size]).toEqual([1, 0]);
  });

  test("ends a call that pauses before a repetition", async () => {
    const port = await closedPort();
    const reply = message(`http://127.0.0.1:${port}/mcp`, { timeoutMs: 400, retry: true });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await peers.close();
    const laterServer = await scripted(answer, port);
    expect(await reply).toEqual(failure("refused"));
    expect([laterServer.calls.length, laterServer.sockets.size]).toEqual([0, 0]);
  });

  test("makes later calls fail, and may be called twice", async () => {
    const { url, calls } = await scripted(answer);
    await peers.close();
    await peers.close();
    expect(await message(url)).toEqual(failure("refused"));
    expect(await peers.isAlive(url, 500)).toBe(false);
    expect(calls).toEqual([]);
  });
});
