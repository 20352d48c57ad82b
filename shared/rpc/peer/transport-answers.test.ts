import { describe, expect, test } from "vitest";
import { rpcErrorResponse, rpcResponse, textResult } from "../testing/json-rpc.ts";
import { failure, newPeers, peers, REPLY, REQUEST, message as send, success, usePeers } from "../testing/peer.ts";
import { type ReceivedCall, type TransportScript, transports } from "../testing/transports.ts";
import type { CallOptions } from "./call.ts";

usePeers();

/** The text of a valid answer. */
const answerTo = ({ id }: ReceivedCall): string => JSON.stringify(rpcResponse(id, textResult(REPLY)));
const answer: TransportScript = (call) => call.answer(answerTo(call));

describe.each(transports)("requests and answers of the transports: $name", ({ options, start }) => {
  const message = (url: string, more: Partial<CallOptions> = {}) => send(url, { ...options, ...more });

  test("sends one JSON-RPC request, with the query of the endpoint and the bearer token", async () => {
    const { url, calls } = await start(answer);
    expect(await message(`${url}?key=1`, { bearer: "token" })).toEqual(success);
    expect(calls).toMatchObject([
      {
        body: { jsonrpc: "2.0", method: "tools/call", params: { name: "league_message", arguments: REQUEST } },
        request: { url: "/mcp?key=1", headers: { authorization: "Bearer token" } },
        isOverSocket: options.socket ?? false,
      },
    ]);
  });

  test("never sends the token of one call with another call", async () => {
    const { url, calls } = await start(answer);
    await message(url, { bearer: "one" });
    await message(url, { bearer: "two" });
    await message(url);
    expect(calls.map(({ request }) => request.headers.authorization)).toEqual(["Bearer one", "Bearer two", undefined]);
  });

  test("has 20 calls to one endpoint under way at the same time, answered in any order", async () => {
    const received: ReceivedCall[] = [];
    const { url } = await start((call) => {
      received.push(call);
      if (received.length === 20) for (const unanswered of received.toReversed()) answer(unanswered);
    });
    expect(await Promise.all(Array.from({ length: 20 }, () => message(url)))).toEqual(Array(20).fill(success));
  });

  test("answers notify with success for a result, and with the status of an error", async () => {
    const { url } = await start((call) => {
      if (call.id === 1) return call.answer(JSON.stringify(rpcResponse(1, null)));
      call.answer(JSON.stringify(rpcErrorResponse(2, { code: -32601, message: "Method not found" })), 404);
    });
    newPeers();
    const notify = () => peers.notify(url, REQUEST, { timeoutMs: 2_000, ...options });
    expect(await notify()).toEqual({ ok: true, value: null });
    expect(await notify()).toEqual({ ok: false, error: { cause: "http_error", detail: "HTTP 404", status: 404 } });
  });

  describe("an invalid answer", () => {
    const rpc = (fields: object): string => JSON.stringify({ jsonrpc: "2.0", id: 1, ...fields });
    const error = (code: number) => rpc({ error: { code, message: "no" } });
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const unprintable = { toString: 1, valueOf: 1 };

    test.each<[string, string, number, string, unknown]>([
      ["no JSON", "<html>", 200, "bad_json", "the answer is not JSON"],
      ["cut JSON", '{"jsonrpc":"2.0","id":1,"result":{', 200, "bad_json", expect.any(String)],
      ["an empty text", "", 200, "bad_json", expect.any(String)],
      ["null", "null", 200, "bad_reply", "the answer is not a JSON-RPC response"],
      ["a request", rpc({ method: "hello" }), 200, "bad_reply", expect.any(String)],
      ["an array", `[${rpc({ result: textResult(REPLY) })}]`, 200, "bad_reply", expect.any(String)],
      ["a message without JSON-RPC", JSON.stringify(REPLY), 200, "bad_reply", expect.any(String)],
      ["no result", rpc({}), 200, "bad_reply", expect.any(String)],
      ["no envelope", rpc({ result: {} }), 200, "bad_reply", expect.stringContaining("league.v2")],
      ["100,000 nested arrays", deep, 200, "bad_reply", expect.any(String)],
      [
        "an error code that is no text",
        rpc({ error: { code: unprintable, message: "no" } }),
        200,
        "bad_reply",
        expect.any(String),
      ],
      ["an id that is no text", rpc({ id: unprintable, result: {} }), 200, "bad_reply", expect.any(String)],
      ["the error -32602", error(-32602), 200, "bad_reply", "JSON-RPC error -32602: no"],
      ["the error -32601", error(-32601), 404, "http_error", "HTTP 404, JSON-RPC error -32601: no"],
      ["the error -32603", error(-32603), 500, "http_error", "HTTP 500, JSON-RPC error -32603: no"],
      ["the error -32000 of a rate limit", error(-32000), 429, "http_error", "HTTP 429, JSON-RPC error -32000: no"],
    ])("with %s is a fault", async (_, text, status, cause, detail) => {
      newPeers();
      const { url } = await start((call) => call.answer(text, status));
      expect(await message(url)).toEqual(failure(cause, detail));
    });

    test.each([2, "1", null, 1.5])("with id %j instead of 1 is a fault bad_reply", async (id) => {
      newPeers();
      const { url } = await start((call) => call.answer(JSON.stringify(rpcResponse(id, textResult(REPLY)))));
      expect(await message(url)).toEqual(failure("bad_reply", `the answer has id ${JSON.stringify(id)}, not 1`));
    });

    test("is part of the fault, cut to 20,000 characters", async () => {
      const { url } = await start((call) => call.answer("x".repeat(50_000)));
      expect(await message(url)).toMatchObject({ error: { raw: "x".repeat(20_000) } });
    });
  });

  describe("the size of an answer", () => {
    test.each([
      [undefined, 256 * 1024],
      [4_000, 4_000],
    ])("is at most the limit: with maxReplyBytes %s, %i bytes", async (maxReplyBytes, limit) => {
      const more = maxReplyBytes === undefined ? {} : { maxReplyBytes };
      const sized = (bytes: number) => start((call) => call.answer(answerTo(call).padEnd(bytes, " ")));
      expect(await message((await sized(limit)).url, more)).toEqual(success);
      expect(await message((await sized(limit + 1)).url, more)).toEqual(
        failure("too_large", `the answer is larger than ${limit} bytes`),
      );
    });

    test("is limited for an endless answer, whose connection is closed", async () => {
      const { url, calls } = await start((call) => call.flood());
      expect(await message(url, { timeoutMs: 10_000, retry: true })).toEqual(failure("too_large"));
      await calls[0]?.closed;
      expect(calls).toHaveLength(1);
    });

    test("can be larger than 256 KiB if the call allows it", async () => {
      const { url } = await start((call) => call.answer(answerTo(call).padEnd(500_000, " ")));
      expect(await message(url, { maxReplyBytes: 1_000_000 })).toEqual(success);
    });
  });

  describe("a repeated or late answer", () => {
    test("does not change the answer of the next call", async () => {
      const other = JSON.stringify({ ...REPLY, payload: { move: "paper" } });
      const { url } = await start((call) => {
        answer(call);
        call.answer(JSON.stringify(rpcResponse(call.id, { content: [{ type: "text", text: other }] })));
      });
      for (let calls = 0; calls < 5; calls++) expect(await message(url)).toEqual(success);
    });

    test("is ignored after the time limit", async () => {
      const received: ReceivedCall[] = [];
      const { url } = await start((call) => {
        received.push(call);
        const [, late] = received;
        if (received.length === 2) return;
        if (!late) return answer(call);
        late.answer(JSON.stringify(rpcResponse(late.id, "late")));
        answer(call);
      });
      expect(await message(url)).toEqual(success);
      expect(await message(url, { timeoutMs: 50 })).toEqual(failure("timeout", "no answer within 50 ms"));
      expect(await message(url)).toEqual(success);
    });
  });
});
