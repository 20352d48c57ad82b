import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectLocal, STATELESS, serviceWithCalls, type TestWire, type WaitCall } from "../testing/stdio.ts";

let wire: TestWire;
let calls: readonly WaitCall[];
const errors: unknown[] = [];
beforeEach(() => {
  const test = serviceWithCalls();
  calls = test.calls;
  wire = connectLocal(test.service, (error) => errors.push(error));
});
afterEach(async () => {
  await wire.close();
  expect(errors.splice(0)).toEqual([]);
});

describe("StdioTransport", () => {
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

  it.each([
    ["a line that is not JSON", "GET / HTTP/1.1", null, -32700],
    ["half a message", ping.slice(0, -1), null, -32700],
    ["bytes that are not UTF-8", Buffer.from([0xff, 0xfe, 0x00]), null, -32700],
    ["a number", "42", null, -32600],
    ["an empty object", "{}", null, -32600],
    ["an empty batch", "[]", null, -32600],
    ["a request without jsonrpc", '{"id":7,"method":"ping"}', 7, -32600],
    ["a request with the id null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', null, -32600],
    ["a line of more than 10 MB", "x".repeat(11 * 1024 * 1024), null, -32600],
  ])("rejects %s and answers the next line", async (_name, line, id, code) => {
    wire.input.write(line);
    wire.input.write(`\n\n  \r\n${ping}\r\n`);
    expect((await wire.next((message) => message.id === 1)).result).toEqual({});
    expect(wire.received.filter(({ error }) => error)).toEqual([
      { jsonrpc: "2.0", id, error: { code, message: expect.any(String) } },
    ]);
  });

  it("ignores a byte order mark at the start of a line", async () => {
    wire.input.write(`\uFEFF${ping}\r\n\uFEFF\r\n\uFEFF${ping.replace("1,", "2,")}\n`);
    await wire.next(() => true);
    await wire.next(() => true);
    expect(wire.received).toMatchObject([
      { id: 1, result: {} },
      { id: 2, result: {} },
    ]);
  });

  it("answers the messages of a batch one by one", async () => {
    wire.input.write(`[${ping},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]\n`);
    await Promise.all([wire.next(({ id }) => id === 1), wire.next(({ id }) => id === 2)]);
  });

  it("answers a last line without a newline and then ends", async () => {
    wire.input.end(ping);
    await wire.ended;
    expect(wire.received).toMatchObject([{ id: 1, result: {} }]);
  });

  it("does not wait for an answer more than a second after the end of the input", async () => {
    wire.send({ id: 1, method: "tools/call", params: { ...STATELESS, name: "wait" } });
    while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    wire.input.end();
    await wire.ended;
    await wire.close();
    await calls[0]?.cancelled;
    expect(wire.received).toEqual([]);
  });

  it("ends when the output cannot be written", async () => {
    wire.output.destroy(new Error("EPIPE"));
    await wire.ended;
  });

  it("answers 1,000 requests at a time and rejects further ones", async () => {
    const wait = { method: "tools/call", params: { ...STATELESS, name: "wait" } };
    for (let id = 1; id <= 1_001; id++) wire.send({ id, ...wait });
    expect((await wire.next(({ error }) => error)).id).toBe(1_001);
    wire.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    expect((await wire.ask("next", "tools/list", STATELESS)).result.tools).toBeInstanceOf(Array);
  });
});
