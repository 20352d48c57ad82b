import { once } from "node:events";
import { afterEach, expect, it } from "vitest";
import { WebSocket } from "ws";
import { jsonRpc } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { systemClock } from "../../lib/clock.ts";
import { rateLimit } from "../jsonrpc/rate-limit.ts";
import { close, open, port } from "../testing/requests.ts";
import { withMcp } from "./http-server.ts";
import { createUpgrades, type Upgrades } from "./upgrade.ts";

const LIMIT_BYTES = 1_000;
let upgrades: Upgrades;
let isSlowReady = Promise.withResolvers<string>();
const bearers: (string | null)[] = [];
const rpc = jsonRpc(
  {
    echo(params, http) {
      bearers.push(http.bearer);
      return params;
    },
    slow: () => isSlowReady.promise,
    broken() {
      throw new Error("broken");
    },
  },
  () => {},
);

async function connect(perMinute: number | null = null, path = "/mcp"): Promise<WebSocket> {
  const gate = perMinute === null ? undefined : rateLimit({ perMinute, loopback: true, isTrusted: () => false });
  const handler = withMcp({ handler: rpc.answer, gate, onError: () => {} }, undefined);
  upgrades = createUpgrades({ handler, gate, bodyLimit: () => LIMIT_BYTES, clock: systemClock, onError: () => {} });
  await open({ upgrades });
  const headers = { authorization: "Bearer mine" };
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, [], {
    perMessageDeflate: false,
    maxPayload: 9_000,
    headers,
  });
  await once(socket, "open");
  return socket;
}

afterEach(() => {
  upgrades.close();
  close();
  isSlowReady = Promise.withResolvers();
  bearers.length = 0;
});

const request = (id: number, method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

/** Sends texts and resolves with the first `count` answers. */
async function answersTo(socket: WebSocket, texts: readonly string[], count = texts.length): Promise<unknown[]> {
  const answers: unknown[] = [];
  socket.on("message", (data: Buffer) => answers.push(JSON.parse(data.toString())));
  for (const text of texts) socket.send(text);
  while (answers.length < count) await once(socket, "message");
  return answers;
}

it("is also at /mcp/", async () => {
  const socket = await connect(null, "/mcp/");
  expect(await answersTo(socket, [request(1, "echo", { a: 1 })])).toEqual([
    { jsonrpc: "2.0", id: 1, result: { a: 1 } },
  ]);
});

it("answers each frame with a frame in the order in which the answers are ready", async () => {
  const socket = await connect();
  const texts = [request(1, "slow"), JSON.stringify({ jsonrpc: "2.0", method: "echo" }), request(2, "echo", { a: 1 })];
  expect(await answersTo(socket, texts, 1)).toEqual([{ jsonrpc: "2.0", id: 2, result: { a: 1 } }]);
  isSlowReady.resolve("late");
  expect(JSON.parse((await once(socket, "message"))[0].toString())).toEqual({ jsonrpc: "2.0", id: 1, result: "late" });
  expect(bearers).toEqual(["mine", "mine"]);
});

it("answers a wrong message with the error that a POST has", async () => {
  const socket = await connect();
  const texts = ["{", "{}", request(3, "unknown"), request(4, "broken")];
  const answers = (await answersTo(socket, texts)) as { id: unknown; error: { code: number } }[];
  expect(answers.map(({ id, error }) => [id, error.code]).sort()).toEqual(
    [
      [null, -32700],
      [null, -32600],
      [3, -32601],
      [4, -32603],
    ].sort(),
  );
});

it("counts each message for the rate limit", async () => {
  const socket = await connect(2); // the request for the WebSocket counts too
  const answers = (await answersTo(socket, [request(1, "echo"), request(2, "echo")])) as { id: number }[];
  expect(answers.toSorted((a, b) => a.id - b.id)).toMatchObject([
    { id: 1, result: {} },
    { id: 2, error: { code: -32000 } },
  ]);
});

it("closes after a message above the limit", async () => {
  const socket = await connect();
  socket.send("x".repeat(LIMIT_BYTES + 1));
  expect((await once(socket, "close"))[0]).toBe(1009);
});

it("rejects a request if 1,000 others have no answer", async () => {
  const socket = await connect();
  const texts = Array.from({ length: 1_001 }, (_, id) => request(id, "slow"));
  expect(await answersTo(socket, texts, 1)).toMatchObject([{ id: 1_000, error: { code: -32000 } }]);
});
