import { describe, expect, test } from "vitest";
import { freePort } from "../../runtime/process/free-ports.ts";
import { rpcResponse, textResult } from "../testing/json-rpc.ts";
import { failure, peers, REPLY, message as send, success, usePeers } from "../testing/peer.ts";
import { type ReceivedCall, type TransportScript, transports } from "../testing/transports.ts";
import type { CallOptions } from "./call.ts";

usePeers();

/** The text of a valid answer. */
const answerTo = ({ id }: ReceivedCall): string => JSON.stringify(rpcResponse(id, textResult(REPLY)));
const answer: TransportScript = (call) => call.answer(answerTo(call));

describe.each(transports)("connections of the transports: $name", ({ options, start }) => {
  const message = (url: string, more: Partial<CallOptions> = {}) => send(url, { ...options, ...more });

  describe("a refused or lost connection", () => {
    test("is a fault without a repetition by default", async () => {
      const url = `http://127.0.0.1:${await freePort()}/mcp`;
      expect(await message(url, { timeoutMs: 20_000 })).toEqual(failure("refused", "connection refused"));
      expect(await message(url)).toMatchObject({ error: { isNothingListening: true } });
    });

    test("is repeated with retry until a server listens", async () => {
      const port = await freePort();
      const reply = message(`http://127.0.0.1:${port}/mcp`, { retry: true, timeoutMs: 10_000 });
      await message(`http://127.0.0.1:${port}/mcp`); // refused too, after the first attempt of the other call
      await start(answer, port);
      expect(await reply).toEqual(success);
    });

    test.each<[string, TransportScript]>([
      ["before the answer", (call) => call.drop()],
      ["within the answer", (call) => call.breakOff(answerTo(call))],
    ])("%s is repeated only with retry", async (_, lose) => {
      let isLost = false;
      const { url, calls } = await start((call) => {
        isLost = !isLost;
        if (isLost) lose(call);
        else answer(call);
      });
      expect(await message(url, { retry: true })).toEqual(success);
      expect(calls.map(({ id }) => id)).toEqual([1, 1]);
      const { url: second, calls: received } = await start(lose);
      expect(await message(second)).toEqual(failure("refused", expect.stringMatching(/^connection (closed|reset)/)));
      expect(received).toHaveLength(1);
    });
  });

  describe("the time limit of a call", () => {
    test("ends a call that is not answered", async () => {
      const { url, calls } = await start(() => {});
      expect(await message(url, { timeoutMs: 100, retry: true })).toEqual(
        failure("timeout", expect.stringMatching(/^no answer within \d+ ms$/)),
      );
      expect(calls).toHaveLength(1);
    });

    test("is shared by all attempts: a repetition has the remaining time", async () => {
      let received = 0;
      const { url } = await start((call) => {
        if (received++ === 0) call.drop();
      });
      const reply = await message(url, { timeoutMs: 200, retry: true });
      const limitMs = Number(/^no answer within (\d+) ms$/.exec(reply.ok ? "" : reply.error.detail)?.[1]);
      expect(limitMs).toBeLessThan(200);
      expect(received).toBe(2);
    });

    test("does not reject an answer that has arrived when the timer of a busy process fires late", async () => {
      const timeoutMs = 200;
      let isBusy = false;
      const { url } = await start((call) => {
        answer(call);
        const startMs = performance.now();
        // Keeps the process busy past the time limit, before it can read the answer.
        const spin = (): void => {
          while (performance.now() - startMs < timeoutMs + 5);
        };
        // The answer over a WebSocket is written at the end of the turn.
        if (isBusy) setImmediate(() => process.nextTick(() => process.nextTick(spin)));
      });
      await message(url);
      isBusy = true;
      expect(await message(url, { timeoutMs })).toEqual(success);
    });
  });

  describe("a cancelled call", () => {
    test("ends as a fault", async () => {
      const abort = new AbortController();
      const { url } = await start(() => abort.abort());
      expect(await message(url, { signal: abort.signal, retry: true })).toEqual(
        failure("timeout", "the call was cancelled"),
      );
    });

    test("is not sent if its connection is not open yet", async () => {
      const { url, calls } = await start(answer);
      const abort = new AbortController();
      const call = () => message(url, { signal: abort.signal });
      const cancelled = [call(), call()];
      abort.abort();
      expect(await Promise.all(cancelled)).toEqual(Array(2).fill(failure("timeout", "the call was cancelled")));
      expect(await message(url)).toEqual(success);
      expect(calls.map(({ id }) => id)).toEqual([3]);
    });

    test("is not sent if the signal is aborted before the call", async () => {
      const { url, calls } = await start(() => {});
      expect(await message(url, { signal: AbortSignal.abort() })).toEqual(failure("timeout", "the call was cancelled"));
      expect(calls).toEqual([]);
    });
  });

  describe("close", () => {
    test("closes idle connections", async () => {
      const { url, calls, connections } = await start(answer);
      await message(url);
      expect(connections.size).toBe(1);
      await peers.close();
      await calls[0]?.closed;
      expect(connections.size).toBe(0);
    });

    test.each([true, false])("ends a call under way and does not repeat it (retry: %s)", async (retry) => {
      const arrival = Promise.withResolvers<void>();
      const { url, calls, connections } = await start(() => arrival.resolve());
      const reply = message(url, { retry, timeoutMs: 60_000 });
      await arrival.promise;
      await peers.close();
      expect(await reply).toEqual(failure("refused"));
      await calls[0]?.closed;
      expect([calls.length, connections.size]).toEqual([1, 0]);
    });

    test("ends a call whose connection is not open yet", async () => {
      const { url, calls } = await start(answer);
      const reply = message(url, { retry: true, timeoutMs: 60_000 });
      await peers.close();
      expect(await reply).toEqual(failure("refused"));
      expect(calls).toEqual([]);
    });

    test("ends a call that pauses before a repetition", async () => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/mcp`;
      const reply = message(url, { timeoutMs: 60_000, retry: true });
      await message(url); // refused too, after the first attempt of the other call
      await peers.close();
      const later = await start(answer, port);
      expect(await reply).toEqual(failure("refused"));
      expect([later.calls.length, later.connections.size]).toEqual([0, 0]);
    });
  });
});
