import type { OutgoingHttpHeaders } from "node:http";
import { hostname } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { close, open, port, type Sent, send } from "../testing/requests.ts";

let handlerCalls = 0;
const handler = async () => {
  handlerCalls += 1;
  return { status: 200, body: '{"ok":true}' };
};

const statusOf = async (headers: OutgoingHttpHeaders, sent: Sent = {}) =>
  (await send("{}", { ...sent, headers })).status;

beforeAll(() => open({ handler }));
afterAll(close);

test.each([
  "evil.example",
  "127.0.0.1.evil.example",
  "localhost.evil.example:80",
  "10.0.0.1",
  "evil.example#localhost",
])("a request to an endpoint or a page with Host %j is rejected with 403", async (host) => {
  const callsBefore = handlerCalls;
  expect([await statusOf({ host }), await statusOf({ host }, { method: "GET", path: "/" })]).toEqual([403, 403]);
  expect(handlerCalls).toBe(callsBefore);
});

test.each([
  "http://evil.example",
  "https://localhost.evil.example",
  "http://evil.example/localhost",
  "null",
  "file://",
  "",
])("a request with Origin %j is rejected with 403", async (origin) => {
  expect(await statusOf({ origin })).toBe(403);
});

test.each([
  ["GET", "/mcp"],
  ["DELETE", "/mcp"],
  ["GET", "/"],
  ["GET", "/health"],
])("%s %s with a foreign Origin is rejected with 403", async (method, path) => {
  const callsBefore = handlerCalls;
  for (const origin of ["http://evil.example", "null"]) {
    expect((await send("", { method, path, headers: { origin } })).status).toBe(403);
  }
  expect(handlerCalls).toBe(callsBefore);
});

test.each([
  "localhost",
  "LOCALHOST:8000",
  "127.0.0.1:1",
  "[::1]:8000",
  "league.example",
  "League.example:80",
  "[fd00::5]:8000",
])("a request with Host %s is accepted without an Origin and with the same Origin", async (host) => {
  expect([await statusOf({ host }), await statusOf({ host, origin: `http://${host}` })]).toEqual([200, 200]);
});

test.each([
  ["127.0.0.1:8000", "http://127.0.0.1:8001", 403],
  ["127.0.0.1:8000", "http://localhost:8000", 403],
  ["127.0.0.1:8000", "http://198.51.100.7", 403],
  ["127.0.0.1:8000", "http://league.example:3000", 200],
  ["League.example", "https://league.example", 200],
  ["league.example:443", "https://league.example", 200],
])("a request with Host %s and Origin %s is answered with %d", async (host, origin, status) => {
  expect(await statusOf({ host, origin })).toBe(status);
});

test("a request with an Origin and a body must be JSON; without an Origin, pages accept any content type", async () => {
  const origin = `http://127.0.0.1:${port}`;
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const statusAt = async (path: string, headers: OutgoingHttpHeaders) => statusOf(headers, { path });
  expect(await statusAt("/api/games", { ...form, origin })).toBe(415);
  expect(await statusAt("/api/games", { origin })).toBe(200);
  expect(await statusAt("/sessions", form)).toBe(200);
  expect((await send("", { method: "GET", path: "/", headers: { origin, "content-type": "" } })).status).toBe(200);
});

test("an endpoint that is not bound to loopback accepts only the addresses and names of its machine as Host", async () => {
  let addresses = ["203.0.113.50", "fd00::50"];
  await open({ handler, host: "0.0.0.0", machineAddresses: () => new Set(addresses) });
  const statusBy = async (host: string) => (await send("{}", { headers: { host } })).status;
  expect([await statusBy("203.0.113.50:8000"), await statusBy("[fd00::50]:8000")]).toEqual([200, 200]);
  expect(await statusBy("203.0.113.60:8000")).toBe(403);
  addresses = ["203.0.113.60"];
  expect(await statusBy("203.0.113.60:8000")).toBe(200);
  expect([await statusBy(hostname()), await statusBy(`${hostname().split(".")[0]}.local:8000`)]).toEqual([200, 200]);
  for (const foreign of ["198.51.100.7:8000", "[2001:db8::7]:8000", "evil.example:8000"]) {
    expect(await statusBy(foreign), foreign).toBe(403);
  }
  await open({ handler });
  expect(await statusBy(hostname())).toBe(hostname() === "localhost" ? 200 : 403);
});
