import { describe, expect, test } from "vitest";
import { answerTo, batched, bodiesOf, endless, idsOf, inLines } from "../testing/batch.ts";
import {
  type Call,
  closedPort,
  connectionClosed,
  failure,
  message,
  peers,
  REQUEST,
  type Script,
  scripted,
  success,
  usePeers,
} from "../testing/peer.ts";
import type { CallOptions } from "./pending.ts";

usePeers();

describe("calls to one endpoint in one turn of the event loop", () => {
  test("are sent in one POST, and each has its own answer", async () => {
    const { url, calls } = await scripted((call) => void call.response.end(inLines(idsOf(call).map(answerTo))));
    expect(await batched(url, 3, { bearer: "token" })).toEqual([success, success, success]);
    const request = { jsonrpc: "2.0", method: "tools/call", params: { name: "league_message", arguments: REQUEST } };
    expect(bodiesOf(calls)).toEqual([[1, 2, 3].map((id) => ({ ...request, id }))]);
    expect(calls[0]?.request.headers).toMatchObject({
      "content-type": "application/json",
      authorization: "Bearer token",
    });
  });

  const echo: Script = (call) => {
    const answers = idsOf(call).map(answerTo);
    call.response.end(Array.isArray(call.body) ? inLines(answers) : answers[0]);
  };

  test("are sent as plain requests if there is only one or they may not be batched", async () => {
    const { url, calls } = await scripted(echo);
    expect(await batched(url, 1)).toEqual([success]);
    await Promise.all([message(url), message(url), message(url, { batch: true })]);
    expect(bodiesOf(calls).map(Array.isArray)).toEqual([false, false, false, false]);
  });

  test("are batched separately for each bearer token and each path", async () => {
    const { url, calls } = await scripted(echo);
    const call = (bearer: string, endpoint = url) => message(endpoint, { batch: true, bearer });
    const all = [call("a"), call("b"), call("a"), call("b"), call("a", `${url}?x`), call("a", `${url}?x`)];
    expect(await Promise.all(all)).toEqual(all.map(() => success));
    const batches = calls.map((batch) => [batch.request.url, batch.request.headers.authorization, idsOf(batch)]);
    expect(batches).toEqual(
      expect.arrayContaining([
        ["/mcp", "Bearer a", [1, 3]],
        ["/mcp", "Bearer b", [2, 4]],
        ["/mcp?x", "Bearer a", [5, 6]],
      ]),
    );
    expect(calls).toHaveLength(3);
  });

  test("are split into batches of at most 64 calls and 96 KiB", async () => {
    const { url, calls } = await scripted(echo);
    expect(await batched(url, 130)).toEqual(Array(130).fill(success));
    expect(calls.map((call) => idsOf(call).length).sort()).toEqual([2, 64, 64]);
    calls.length = 0;
    const large = { ...REQUEST, payload: { text: "☃".repeat(15_000) } };
    const sent = Array.from({ length: 5 }, () => peers.message(url, large, { timeoutMs: 2_000, batch: true }));
    expect(await Promise.all(sent)).toEqual(Array(5).fill(success));
    expect(calls.map((call) => idsOf(call).length).sort()).toEqual([1, 2, 2]);
  });

  test("are not sent if they are cancelled before the turn ends", async () => {
    const { url, calls } = await scripted(echo);
    const abort = new AbortController();
    const all = [message(url, { batch: true }), message(url, { batch: true, signal: abort.signal })];
    abort.abort();
    all.push(message(url, { batch: true, signal: abort.signal }));
    const cancelled = failure("timeout", "the call was cancelled");
    expect(await Promise.all(all)).toEqual([success, cancelled, cancelled]);
    expect(calls.map(idsOf)).toEqual([[1]]);
  });
});

describe("a call in a batch", () => {
  /** Answers all calls but the first, and then calls `then`. */
  const allButFirst = (then: (call: Call) => void): Script => {
    return (call) => {
      const [, ...others] = idsOf(call).map(answerTo);
      call.response.write(`[\n${others.join("\n,")}\n`, () => then(call));
    };
  };

  test("settles as soon as its line arrives, before the lines of slower calls", async () => {
    const { url, calls } = await scripted(allButFirst(() => {}));
    const [slow, ...others] = Array.from({ length: 4 }, () => message(url, { batch: true }));
    expect(await Promise.all(others)).toEqual([success, success, success]);
    calls[0]?.response.end(`,${answerTo(1)}\n]`);
    expect(await slow).toEqual(success);
  });

  test("has its own deadline, and the connection is closed when the last call has settled", async () => {
    const { url, calls } = await scripted(allButFirst(() => {}));
    const call = (options: Partial<CallOptions>) => message(url, { batch: true, ...options });
    const all = await Promise.all([call({ timeoutMs: 100 }), call({}), call({ timeoutMs: 1_000 })]);
    expect(all).toEqual([failure("timeout", expect.stringMatching(/^no answer within 100 ms$/)), success, success]);
    await connectionClosed(calls[0]);
  });

  test("has its own signal", async () => {
    const abort = new AbortController();
    const { url, calls } = await scripted((call) => {
      abort.abort();
      call.response.end(inLines(idsOf(call).map(answerTo)));
    });
    const all = [message(url, { batch: true, signal: abort.signal }), message(url, { batch: true })];
    expect(await Promise.all(all)).toEqual([failure("timeout", "the call was cancelled"), success]);
    expect(calls.map(idsOf)).toEqual([[1, 2]]);
  });

  test("is not delayed by an open batch, because the next batch uses another connection", async () => {
    const { url, calls, sockets } = await scripted((call) => {
      if (calls.length > 1) call.response.end(inLines(idsOf(call).map(answerTo)));
    });
    const open = batched(url, 2, { timeoutMs: 5_000 });
    while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await batched(url, 2)).toEqual([success, success]);
    expect(sockets.size).toBe(2);
    calls[0]?.response.end(inLines([answerTo(2), answerTo(1)]));
    expect(await open).toEqual([success, success]);
  });

  test("settles although the array does not end, and the connection is closed", async () => {
    const { url, calls } = await scripted((call) => void call.response.write(inLines(idsOf(call).map(answerTo), "")));
    expect(await batched(url, 2)).toEqual([success, success]);
    await connectionClosed(calls[0]);
  });
});

describe("a failed batch", () => {
  test("is a fault of each call if the connection is refused", async () => {
    const url = `http://127.0.0.1:${await closedPort()}/mcp`;
    expect(await batched(url, 3)).toEqual(Array(3).fill(failure("refused", "connection refused")));
  });

  test("that breaks between two answers keeps the received answers and repeats the other calls with retry", async () => {
    const cut: Script = (call) => {
      const ids = idsOf(call);
      // Each call is repeated after its own pause, so the calls may arrive together or separately.
      if (calls.length > 1)
        return void call.response.end(Array.isArray(call.body) ? inLines(ids.map(answerTo)) : answerTo(ids[0]));
      call.response.write(`[\n${answerTo(2)}\n,${answerTo(1).slice(0, 30)}`, () => call.request.socket.destroy());
    };
    const { url, calls } = await scripted((call) => cut(call));
    const all = [message(url, { batch: true, retry: true }), message(url, { batch: true })];
    all.push(message(url, { batch: true }), message(url, { batch: true, retry: true }));
    const refused = failure("refused", expect.stringMatching(/^connection (closed|reset)/));
    expect(await Promise.all(all)).toEqual([success, success, refused, success]);
    const [first, ...again] = calls.map(idsOf);
    expect([first, again.flat().sort()]).toEqual([
      [1, 2, 3, 4],
      [1, 4],
    ]);
  });

  test("is a fault of sent and of queued calls if the client closes", async () => {
    const { url, calls } = await scripted(() => {});
    const open = batched(url, 2, { retry: true });
    while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const waiting = batched(url, 2, { retry: true });
    await peers.close();
    expect([...(await open), ...(await waiting)]).toEqual(Array(4).fill(failure("refused")));
    await connectionClosed(calls[0]);
    expect(calls).toHaveLength(1);
  });

  test("with an endless answer is cut off at the size limit, and received answers count", async () => {
    const { url, calls } = await scripted((call) => endless(call, "x".repeat(16_384)));
    expect(await batched(url, 2, { timeoutMs: 10_000 })).toEqual(Array(2).fill(failure("too_large")));
    await connectionClosed(calls[0]);
    const lines = await scripted((call) => endless(call, '{"id":"another"}\n,'.repeat(1_000), `[\n${answerTo(3)}\n,`));
    expect(await batched(lines.url, 2, { timeoutMs: 10_000 })).toEqual([success, failure("too_large")]);
    await connectionClosed(lines.calls[0]);
  });
});
