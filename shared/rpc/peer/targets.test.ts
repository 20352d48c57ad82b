import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { exchange, type Target } from "./exchange.ts";
import { createTargets, type Targets } from "./targets.ts";

const MINUTE_MS = 60_000;
let now: number;
let targets: Targets;
const servers: Server[] = [];
/** Requests that are not answered yet. */
let waiting: ServerResponse[];
let asked: PromiseWithResolvers<void>;

beforeEach(() => {
  now = 0;
  targets = createTargets({ ...systemClock, monotonic: () => now });
  waiting = [];
  asked = Promise.withResolvers();
});
afterEach(async () => {
  await targets.close();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function startServer(isSlow = false): Promise<string> {
  const server = createServer((_, response) => {
    if (!isSlow) return void response.end("{}");
    waiting.push(response);
    asked.resolve();
  });
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const call = (endpoint: string) =>
  exchange(targets.of(endpoint) as Target, "POST", "{}", { timeoutMs: 10_000 }, systemClock);

test("connections to an origin that is not called for five minutes are closed when another is called", async () => {
  const [one, two, three] = [await startServer(), await startServer(), await startServer()];
  expect((await call(`${one}/mcp`)).ok).toBe(true);
  const connection = once(servers[0] as Server, "request");
  expect((await call(`${one}/other`)).ok).toBe(true);
  const [{ socket }] = await connection;
  const closed = once(socket, "close");
  now += 4 * MINUTE_MS;
  expect((await call(`${two}/mcp`)).ok).toBe(true);
  expect(targets.size).toBe(2);
  now += 2 * MINUTE_MS;
  expect((await call(`${three}/mcp`)).ok).toBe(true);
  expect(targets.size).toBe(2);
  await closed;
  expect((await call(`${one}/mcp`)).ok).toBe(true);
});

test("an origin keeps its connections while a call to it waits for its answer", async () => {
  const [slow, other] = [await startServer(true), await startServer()];
  const answer = call(`${slow}/mcp`);
  await asked.promise;
  now += 60 * MINUTE_MS;
  expect((await call(`${other}/mcp`)).ok).toBe(true);
  waiting[0]?.end('{"late":true}');
  expect(await answer).toMatchObject({ ok: true, value: { text: '{"late":true}' } });
});

test("the paths of one origin are not remembered without end", () => {
  const first = targets.of("http://127.0.0.1:9/0");
  expect(targets.of("http://127.0.0.1:9/0")).toBe(first);
  for (let path = 1; path <= 1_000; path++) targets.of(`http://127.0.0.1:9/${path}`);
  expect(targets.of("http://127.0.0.1:9/0")).not.toBe(first);
  expect([targets.size, targets.of("ftp://127.0.0.1/mcp")]).toEqual([1, null]);
});
