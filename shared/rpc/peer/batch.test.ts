import { describe, expect, test } from "vitest";
import { answerTo, batched, bodiesOf, endless, idsOf, inLines } from "../testing/batch.ts";
import {
  type Call,
  closedPort,
  failure,
  gone,
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

describe("calls of one turn to one endpoint", () => {
  test("go in one POST, each answered for itself", async () => {
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

  test("a lone call goes as it is, and so does one that is not to be batched", async () => {
    const { url, calls } = await scripted(echo);
    expect(await batched(url, 1)).toEqual([success]);
    await Promise.all([message(url), message(url), message(url, { batch: true })]);
    expect(bodiesOf(calls).map(Array.isArray)).toEqual([false, false, false, false]);
  });

  test("different bearers and different endpoints are not mixed", async () => {
    const { url, calls } = await scripted(echo);
    const one = (bearer: string, at = url) => message(at, { batch: true, bearer });
    const all = [one("a"), one("b"), one("a"), one("b"), one("a", `${url}?x`), one("a", `${url}?x`)];
    expect(await Promise.all(all)).toEqual(all.map(() => success));
    const seen = calls.map((call) => [call.request.url, call.request.headers.authorization, idsOf(call)]);
    expect(seen).toEqual(
      expect.arrayContaining([
        ["/mcp", "Bearer a", [1, 3]],
        ["/mcp", "Bearer b", [2, 4]],
        ["/mcp?x", "Bearer a", [5, 6]],
      ]),
    );
    expect(calls).toHaveLength(3);
  });

  test("are at most 64 calls and 96 kB a batch", async () => {
    const { url, calls } = await scripted(echo);
    expect(await batched(url, 130)).toEqual(Array(130).fill(success));
    expect(calls.map((call) => idsOf(call).length).sort()).toEqual([2, 64, 64]);
    calls.length = 0;
    const large = { ...REQUEST, payload: { text: "☃".repeat(15_000) } };
    const sent = Array.from({ length: 5 }, () => peers.message(url, large, { timeoutMs: 2_000, batch: true }));
    expect(await Promise.all(sent)).toEqual(Array(5).fill(success));
    expect(calls.map((call) => idsOf(call).length).sort()).toEqual([1, 2, 2]);
  });

  test("one that is given up before the turn ends does not go out", async () => {
    const { url, calls } = await scripted(echo);
    const abort = new AbortController();
    const all = [message(url, { batch: true }), message(url, { batch: true, signal: abort.signal })];
    abort.abort();
    all.push(message(url, { batch: true, signal: abort.signal }));
    const givenUp = failure("timeout", "given up");
    expect(await Promise.all(all)).toEqual([success, givenUp, givenUp]);
    expect(calls.map(idsOf)).toEqual([[1]]);
  });
});

describe("none waits for another", () => {
  /** Answers all but the first, then goes on as it is told. */
  const first = (then: (call: Call) => void): Script => {
    return (call) => {
      const [, ...others] = idsOf(call).map(answerTo);
      call.response.write(`[\n${others.join("\n,")}\n`, () => then(call));
    };
  };

  test("each call is settled as soon as its line is there; a late one may still come", async () => {
    const { url, calls } = await scripted(first(() => {}));
    const [slow, ...others] = Array.from({ length: 4 }, () => message(url, { batch: true }));
    expect(await Promise.all(others)).toEqual([success, success, success]);
    calls[0]?.response.end(`,${answerTo(1)}\n]`);
    expect(await slow).toEqual(success);
  });

  test("the deadline of one is not the others', and the last one to be given up closes the connection", async () => {
    const { url, calls } = await scripted(first(() => {}));
    const one = (options: Partial<CallOptions>) => message(url, { batch: true, ...options });
    const all = await Promise.all([one({ timeoutMs: 100 }), one({}), one({ timeoutMs: 1_000 })]);
    expect(all).toEqual([failure("timeout", expect.stringMatching(/^no answer within 100 ms$/)), success, success]);
    await gone(calls[0]);
  });

  test("the signal of one is not the others'", async () => {
    const abort = new AbortController();
    const { url, calls } = await scripted((call) => {
      abort.abort();
      call.response.end(inLines(idsOf(call).map(answerTo)));
    });
    const all = [message(url, { batch: true, signal: abort.signal }), message(url, { batch: true })];
    expect(await Promise.all(all)).toEqual([failure("timeout", "given up"), success]);
    expect(calls.map(idsOf)).toEqual([[1, 2]]);
  });

  test("while a batch is open, others go by another connection", async () => {
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

  test("an array that does not end after its last answer gives the connection back", async () => {
    const { url, calls } = await scripted((call) => void call.response.write(inLines(idsOf(call).map(answerTo), "")));
    expect(await batched(url, 2)).toEqual([success, success]);
    await gone(calls[0]);
  });
});

describe("when the exchange fails, so does each of its calls", () => {
  test("nobody there", async () => {
    const url = `http://127.0.0.1:${await closedPort()}/mcp`;
    expect(await batched(url, 3)).toEqual(Array(3).fill(failure("refused", "connection refused")));
  });

  test("answers cut in the middle: those that came count, the others may be tried again", async () => {
    const cut: Script = (call) => {
      const ids = idsOf(call);
      // Tried again each after a pause of its own, so together or alone.
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

  test("closing ends calls under way and calls that wait for the end of the turn", async () => {
    const { url, calls } = await scripted(() => {});
    const open = batched(url, 2, { retry: true });
    while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const waiting = batched(url, 2, { retry: true });
    await peers.close();
    expect([...(await open), ...(await waiting)]).toEqual(Array(4).fill(failure("refused")));
    await gone(calls[0]);
    expect(calls).toHaveLength(1);
  });

  test("answers without an end are cut off", async () => {
    const { url, calls } = await scripted((call) => endless(call, "x".repeat(16_384)));
    expect(await batched(url, 2, { timeoutMs: 10_000 })).toEqual(Array(2).fill(failure("too_large")));
    await gone(calls[0]);
    const lines = await scripted((call) => endless(call, '{"id":"another"}\n,'.repeat(1_000), `[\n${answerTo(3)}\n,`));
    expect(await batched(lines.url, 2, { timeoutMs: 10_000 })).toEqual([success, failure("too_large")]);
    await gone(lines.calls[0]);
  });
});
