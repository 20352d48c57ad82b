import { describe, expect, test } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { ask, serve, url } from "../testing/endpoint.ts";
import { rpcRequest, rpcResponse } from "../testing/json-rpc.ts";
import { batchReply } from "./batch-reply.ts";
import type { HttpReply } from "./http-context.ts";

const pendingCalls = new Map<unknown, PromiseWithResolvers<unknown>>();
const errors: unknown[] = [];
serve(
  {
    echo: (params) => params,
    /** Answers when the test resolves the pending call. */
    wait: (params) => {
      const [name] = params as [string];
      pendingCalls.set(name, Promise.withResolvers());
      return pendingCalls.get(name)?.promise;
    },
  },
  (error) => errors.push(error),
);

const call = (id: unknown, method = "echo") => rpcRequest(method, [id], id);
const result = (id: unknown) => rpcResponse(id, [id]);
const post = (batch: readonly object[], signal?: AbortSignal) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(batch),
    ...(signal && { signal }),
  });

/** Reads a body until it contains `expected` or ends. Resolves with the text that was read. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, expected: string): Promise<string> {
  let text = "";
  while (!text.includes(expected)) {
    const { value, done } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  return text;
}

describe("the HTTP answer to a batch", () => {
  test("has a Content-Length and one element per line, in the order of the calls, if all replies are ready", async () => {
    const reply = await post([call(1), { ...call(9), id: undefined }, call("b"), call(null)]);
    const text = await reply.text();
    expect(reply.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
    expect(text).toBe(`[\n${[1, "b", null].map((id) => JSON.stringify(result(id))).join("\n,")}\n]`);
  });

  test("is sent in parts, so that a slow call delays no other", async () => {
    const reply = await post([call("slow", "wait"), call(1), call("slower", "wait"), call(2)]);
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/json"]);
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
    let text = await readUntil(reader, `${JSON.stringify(result(2))}\n`);
    expect(JSON.parse(`${text}]`)).toEqual([result(1), result(2)]);
    pendingCalls.get("slower")?.resolve(["slower"]);
    text += await readUntil(reader, `${JSON.stringify(result("slower"))}\n`);
    pendingCalls.get("slow")?.reject(new Error("secret"));
    text += await readUntil(reader, "]\n]");
    const internal = { jsonrpc: "2.0", id: "slow", error: { code: -32603, message: "Internal error" } };
    expect(JSON.parse(text)).toEqual([result(1), result(2), result("slower"), internal]);
    expect(errors).toEqual([new Error("secret")]);
  });

  test("stops when the caller disconnects, and later requests are answered", async () => {
    const disconnect = new AbortController();
    const reply = await post([call(1), call("first", "wait"), call("second", "wait")], disconnect.signal);
    await readUntil((reply.body as ReadableStream<Uint8Array>).getReader(), "1]}\n");
    disconnect.abort();
    pendingCalls.get("first")?.resolve(["first"]);
    expect(await ask("echo", [7])).toMatchObject({ status: 200, result: [7] });
    pendingCalls.get("second")?.resolve(["second"]);
    expect(await ask("echo", [8])).toMatchObject({ status: 200, result: [8] });
  });
});

describe("batchReply", () => {
  const calls = (count: number) => Array.from({ length: count }, () => Promise.withResolvers<HttpReply>());
  const settle = (call: PromiseWithResolvers<HttpReply> | undefined, body: string) =>
    call?.resolve({ status: 200, body });
  const reply = (all: readonly PromiseWithResolvers<HttpReply>[]) =>
    batchReply(
      all.map(({ promise }) => promise),
      systemClock,
    );

  test("returns the replies of one turn of the event loop as one part", async () => {
    const all = calls(5);
    const answered = reply(all);
    settle(all[3], "3");
    settle(all[1], "1");
    const first = await answered;
    expect(first.body).toBe("[\n1\n,3\n");
    const parts = first.more?.[Symbol.asyncIterator]();
    const second = parts?.next();
    settle(all[4], "4");
    settle(all[0], "0");
    expect(await second).toEqual({ value: ",0\n,4\n", done: false });
    settle(all[2], "2");
    expect(await parts?.next()).toEqual({ value: ",2\n]", done: false });
    expect(await parts?.next()).toEqual({ value: undefined, done: true });
  });

  test("returns no element for a notification, and a slow notification delays no other reply", async () => {
    const all = calls(3);
    const answered = reply(all);
    settle(all[0], "");
    settle(all[2], "2");
    const first = await answered;
    expect(first.body).toBe("[\n2\n");
    settle(all[1], "");
    expect(await first.more?.[Symbol.asyncIterator]().next()).toEqual({ value: "]", done: false });
  });

  test("returns status 202 and no body for notifications only", async () => {
    const all = calls(2);
    const answered = reply(all);
    for (const call of all) settle(call, "");
    expect(await answered).toEqual({ status: 202, body: "" });
  });

  test("returns a complete body if all replies are ready in one turn", async () => {
    const all = calls(2);
    const answered = reply(all);
    settle(all[1], "1");
    settle(all[0], "0");
    expect(await answered).toEqual({ status: 200, body: "[\n0\n,1\n]" });
  });
});
