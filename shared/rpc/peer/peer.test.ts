import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { newEnvelope } from "../../protocol/testing/envelope.ts";
import {
  answer,
  type Call,
  closedPort,
  failure,
  gone,
  message,
  peers,
  REPLY,
  REQUEST,
  type Script,
  scripted,
  success,
  texts,
  usePeers,
} from "../testing/peer.ts";

usePeers();

const withResult = async (result: unknown) => message((await scripted((call) => answer(call, result))).url);

describe("a call (PROTOCOL.md, section 2)", () => {
  test("goes out as tools/call of league_message with an integer id, the envelope as its arguments", async () => {
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
    ["a text", texts(REPLY)],
    ["a text behind other parts", { content: [image, ...texts(REPLY).content] }],
    ["structured content alone", { structuredContent: REPLY }],
    [
      "structured content beside a text for people",
      { content: [{ type: "text", text: "I play rock!" }], structuredContent: REPLY },
    ],
    ["a result with fields that nobody knows", { ...texts({ ...REPLY, mood: "good" }), _meta: {} }],
  ])("the envelope is read from %s", async (_, result) => {
    expect(await withResult(result)).toEqual(success);
  });

  test("an error beside a result may be an explicit null", async () => {
    const { url } = await scripted(
      ({ body, response }) =>
        void response.end(JSON.stringify({ jsonrpc: "2.0", id: body.id, result: texts(REPLY), error: null })),
    );
    expect(await message(url)).toEqual(success);
  });

  test("a rejection with isError is an envelope like any other", async () => {
    const rejection = newEnvelope("GAME_ERROR", "player:P01", { error_code: "G004" });
    expect(await withResult({ ...texts(rejection), isError: true })).toEqual({ ok: true, value: rejection });
  });

  test("a slow answer holds up no other", async () => {
    const waiting: Call[] = [];
    const { url } = await scripted((call) => {
      waiting.push(call);
      if (waiting.length === 20) for (const one of waiting.toReversed()) answer(one);
    });
    expect(await Promise.all(Array.from({ length: 20 }, () => message(url)))).toEqual(Array(20).fill(success));
  });
});

describe("nobody there", () => {
  test("refused, at once when not to be retried", async () => {
    const url = `http://127.0.0.1:${await closedPort()}/mcp`;
    expect(await message(url, { timeoutMs: 20_000 })).toEqual(failure("refused", "connection refused"));
  });

  test("refused, when nobody comes within the deadline", async () => {
    const [url, start] = [`http://127.0.0.1:${await closedPort()}/mcp`, performance.now()];
    expect(await message(url, { timeoutMs: 200, retry: true })).toEqual(failure("refused"));
    expect(performance.now() - start).toBeGreaterThan(45);
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  test("answered, when somebody comes within the deadline", async () => {
    const port = await closedPort();
    const reply = message(`http://127.0.0.1:${port}/mcp`, { retry: true, timeoutMs: 10_000 });
    await new Promise((resolve) => setTimeout(resolve, 60));
    await scripted(answer, port);
    expect(await reply).toEqual(success);
  });

  const dropFirst: Script = (call) => {
    if (call.body.id !== dropped) call.request.socket.destroy();
    else answer(call);
    dropped = call.body.id;
  };
  let dropped = 0;

  test("a connection dropped before the answer is tried again only when asked, and never behind our back", async () => {
    const { url, calls } = await scripted(dropFirst);
    expect(await message(url)).toEqual(failure("refused"));
    expect(calls).toHaveLength(1);
    expect(await message(url, { retry: true })).toEqual(success);
    expect(calls.map((call) => call.body.id)).toEqual([1, 2, 2]);
  });

  test("a connection dropped in the middle of an answer", async () => {
    const { url } = await scripted(({ request, response }) => {
      response.writeHead(200, { "content-length": 1_000 });
      response.write('{"jsonrpc"', () => request.socket.destroy());
    });
    expect(await message(url)).toEqual(failure("refused", expect.stringMatching(/^connection (closed|reset)/)));
  });

  test.each(["", "nonsense", "/mcp", "ftp://127.0.0.1/mcp", "file:///etc/passwd", "mailto:a@b.example", "http://"])(
    "%j is no place to call, and says so without throwing",
    async (url) => {
      expect(await message(url)).toEqual(failure("refused"));
      expect(await peers.notify(url, REQUEST, { timeoutMs: 500 })).toEqual(failure("refused"));
      expect(await peers.isAlive(url, 500)).toBe(false);
    },
  );
});

describe("no answer in time: the deadline covers all, and the connection is closed", () => {
  const head: Script = ({ response }) => void response.writeHead(200).write("{");
  const drip: Script = ({ response }) => {
    const timer = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(timer));
  };

  test.each<[string, Script]>([
    ["silent", () => {}],
    ["silent after the head", head],
    ["dripping for ever", drip],
  ])("%s", async (_, script) => {
    const { url, calls } = await scripted(script);
    expect(await message(url, { timeoutMs: 100, retry: true })).toEqual(
      failure("timeout", expect.stringMatching(/^no answer within \d+ ms$/)),
    );
    await gone(calls[0]);
    expect(calls).toHaveLength(1);
  });

  test("given up by the caller", async () => {
    const abort = new AbortController();
    const { url, calls } = await scripted(() => abort.abort());
    expect(await message(url, { signal: abort.signal, retry: true })).toEqual(failure("timeout", "given up"));
    await gone(calls[0]);
  });

  test.each([
    ["a call", false],
    ["a batch", true],
  ])("%s that is given up while the connection is made does not go out", async (_, batch) => {
    const { url, calls } = await scripted(answer);
    const abort = new AbortController();
    const one = () => message(url, { signal: abort.signal, batch });
    const givenUp = [one(), one()];
    if (batch) await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    expect(await Promise.all(givenUp)).toEqual(Array(2).fill(failure("timeout", "given up")));
    expect(await message(url)).toEqual(success);
    expect(calls.map(({ body }) => body.id)).toEqual([3]);
  });

  test("a repetition has what the tries before it have left of the time", async () => {
    const { url } = await scripted(({ request }) => {
      if (calls++ === 0) request.socket.destroy();
    });
    let calls = 0;
    const reply = await message(url, { timeoutMs: 200, retry: true });
    const limitMs = Number(/^no answer within (\d+) ms$/.exec(reply.ok ? "" : reply.error.detail)?.[1]);
    expect(limitMs).toBeLessThan(200);
  });

  test("an answer that lay in our own socket when this process got to its timer has come in time", async () => {
    const timeoutMs = 200;
    const { url } = await scripted((call) => {
      answer(call);
      const begun = performance.now();
      // Busy until the time is over, before anything can be read.
      const spin = (): void => {
        while (performance.now() - begun < timeoutMs + 5);
      };
      if (isBusy) process.nextTick(() => process.nextTick(spin));
    });
    let isBusy = false;
    await message(url);
    isBusy = true;
    expect(await message(url, { timeoutMs })).toEqual(success);
  });

  test("given up before it began: nothing goes out", async () => {
    const { url, calls } = await scripted(() => {});
    expect(await message(url, { signal: AbortSignal.abort(), timeoutMs: 300 })).toEqual(failure("timeout", "given up"));
    expect(calls).toEqual([]);
  });
});

describe("close leaves nothing open", () => {
  test("idle connections are closed", async () => {
    const { url, sockets } = await scripted(answer);
    await message(url);
    expect(sockets.size).toBe(1);
    const closed = [...sockets].map((socket) => once(socket, "close"));
    await peers.close();
    await Promise.all(closed);
    expect(sockets.size).toBe(0);
  });

  test.each([true, false])("a call under way ends with it, and does not come back (retry: %s)", async (retry) => {
    let arrived = (): void => {};
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const { url, calls, sockets } = await scripted(() => arrived());
    const reply = message(url, { timeoutMs: 2_000, retry });
    await arrival;
    const start = performance.now();
    await peers.close();
    expect(await reply).toEqual(failure("refused"));
    expect(performance.now() - start).toBeLessThan(1_000);
    await gone(calls[0]);
    expect([calls.length, sockets.size]).toEqual([1, 0]);
  });

  test("a call that waits to try again gives up", async () => {
    const port = await closedPort();
    const reply = message(`http://127.0.0.1:${port}/mcp`, { timeoutMs: 400, retry: true });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await peers.close();
    const late = await scripted(answer, port);
    expect(await reply).toEqual(failure("refused"));
    expect([late.calls.length, late.sockets.size]).toEqual([0, 0]);
  });

  test("later calls are refused, and closing twice is no fault", async () => {
    const { url, calls } = await scripted(answer);
    await peers.close();
    await peers.close();
    expect(await message(url)).toEqual(failure("refused"));
    expect(await peers.isAlive(url, 500)).toBe(false);
    expect(calls).toEqual([]);
  });
});
