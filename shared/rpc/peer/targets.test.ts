import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import type { Result } from "../../lib/result.ts";
import { listenOnLoopback } from "../testing/loopback.ts";
import { Call, type CallFault, type RawReply } from "./call.ts";
import { createHttpTransport, createTargets, type Targets } from "./http-transport.ts";

const MINUTE_MS = 60_000;
let nowMs: number;
let targets: Targets;
const servers: Server[] = [];
/** The responses that have not been sent. */
let openResponses: ServerResponse[];
/** Resolves when a slow server has received a request. */
let requestReceived: PromiseWithResolvers<void>;

beforeEach(() => {
  nowMs = 0;
  targets = createTargets({ ...systemClock, monotonic: () => nowMs });
  openResponses = [];
  requestReceived = Promise.withResolvers();
});
afterEach(async () => {
  await targets.close();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function startServer(isSlow = false): Promise<string> {
  const server = createServer((_, response) => {
    if (!isSlow) return void response.end("{}");
    openResponses.push(response);
    requestReceived.resolve();
  });
  servers.push(server);
  return `http://127.0.0.1:${await listenOnLoopback(server)}`;
}

const call = (endpoint: string) =>
  new Promise<Result<RawReply, CallFault>>((resolve, reject) =>
    createHttpTransport(targets).send(
      { endpoint, method: "POST", body: "{}", id: 0 },
      new Call({ timeoutMs: 10_000 }, systemClock, resolve, reject),
    ),
  );

test("connections to an origin without a call for five minutes are closed when another origin is called", async () => {
  const [one, two, three] = [await startServer(), await startServer(), await startServer()];
  expect((await call(`${one}/mcp`)).ok).toBe(true);
  const connection = once(servers[0] as Server, "request");
  expect((await call(`${one}/other`)).ok).toBe(true);
  const [{ socket }] = await connection;
  const closed = once(socket, "close");
  nowMs += 4 * MINUTE_MS;
  expect((await call(`${two}/mcp`)).ok).toBe(true);
  expect(targets.size).toBe(2);
  nowMs += 2 * MINUTE_MS;
  expect((await call(`${three}/mcp`)).ok).toBe(true);
  expect(targets.size).toBe(2);
  await closed;
  expect((await call(`${one}/mcp`)).ok).toBe(true);
});

test("connections of an origin with a call under way are not closed", async () => {
  const [slow, other] = [await startServer(true), await startServer()];
  const answer = call(`${slow}/mcp`);
  await requestReceived.promise;
  nowMs += 60 * MINUTE_MS;
  expect((await call(`${other}/mcp`)).ok).toBe(true);
  openResponses[0]?.end('{"late":true}');
  expect(await answer).toMatchObject({ ok: true, value: { text: '{"late":true}' } });
});

test("the number of cached paths of one origin is limited", () => {
  const first = targets.of("http://127.0.0.1:9/0");
  expect(targets.of("http://127.0.0.1:9/0")).toBe(first);
  for (let path = 1; path <= 1_000; path++) targets.of(`http://127.0.0.1:9/${path}`);
  expect(targets.of("http://127.0.0.1:9/0")).not.toBe(first);
  expect([targets.size, targets.of("ftp://127.0.0.1/mcp")]).toEqual([1, null]);
});
