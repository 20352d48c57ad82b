import { afterEach, expect, it } from "vitest";
import type { OperatorDocument } from "#shared/web/league-documents.ts";
import { rpcOf, startTestManager, type TestManager } from "../testing/test-manager.ts";

let manager: TestManager;
afterEach(() => manager.stop());

const PAUSE = rpcOf("tools/call", { name: "pause_league", arguments: { league_id: "rps" } });

/** Starts a league that is running, so that every accepted request pauses it. */
async function start(more: object = {}): Promise<(headers?: Record<string, string>) => Promise<Response>> {
  manager = await startTestManager([{ league_id: "rps", game: "rps.v1", min_players: 2 }], more);
  await manager.register("REF01", "P01", "P02");
  await manager.assigned("rps", "R1M1");
  return (headers = {}) =>
    fetch(manager.url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: PAUSE });
}
const read = async (): Promise<OperatorDocument> =>
  (await (await fetch(`${own()}/api/leagues/rps/operator`)).json()) as OperatorDocument;
const isPaused = async (): Promise<boolean> => (await read()).league.status === "paused";
const own = (): string => `http://127.0.0.1:${manager.port}`;
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

it.each([
  ["a page of another site", { origin: "https://attacker.example" }, 403],
  ["a page of another port of this machine", { origin: "http://127.0.0.1:1" }, 403],
  ["a sandboxed frame or a local file", { origin: "null" }, 403],
  ["a form of another site", { origin: "https://attacker.example", "content-type": "text/plain" }, 403],
] as const)("%s cannot act as the operator, even with the token", async (_, headers, status) => {
  const post = await start();
  const response = await post({ ...bearer(manager.operator), ...headers });
  expect(response.status).toBe(status);
  expect(response.headers.get("access-control-allow-origin")).toBeNull();
  expect(await isPaused()).toBe(false);
});

it("a page of an allowed origin may call other tools, but cannot act as the operator, also in an MCP session", async () => {
  const post = await start({ allowed_origins: ["https://app.example"] });
  const page = { origin: "https://app.example", ...bearer(manager.operator) };
  const refused = expect.stringContaining(
    "pages of other sites (allowed_origins) cannot call the tools of the operator",
  );
  const response = await post(page);
  expect([response.status, await response.text()]).toEqual([200, refused]);
  expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example");
  expect(response.headers.get("access-control-allow-credentials")).toBeNull();

  const call = (body: string, headers: object = {}) =>
    fetch(manager.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...page,
        ...headers,
      },
      body,
    });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "page", version: "1" } };
  const opened = await call(rpcOf("initialize", params));
  await opened.text();
  expect(opened.headers.get("access-control-expose-headers")).toBe("Mcp-Session-Id");
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  expect(await (await call(PAUSE, session)).text()).toEqual(refused);
  const standings = rpcOf("tools/call", { name: "get_standings", arguments: { league_id: "rps" } });
  expect(await (await call(standings, session)).text()).toContain("P01");
  expect(await isPaused()).toBe(false);
  expect(await (await post({ ...page, origin: own() })).text()).toContain("PAUSED");
});

it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"])(
  "a form cannot act as the operator: a body of %s is rejected, even from the manager's own page",
  async (type) => {
    const post = await start();
    const response = await post({ ...bearer(manager.operator), origin: own(), "content-type": type });
    expect(response.status).toBe(415);
    expect(await isPaused()).toBe(false);
  },
);

it("the browser of another site receives no permission to send the token", async () => {
  await start();
  const response = await fetch(manager.url, {
    method: "OPTIONS",
    headers: {
      origin: "https://attacker.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type",
    },
  });
  expect(response.ok).toBe(false);
  expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
});

it("a request without the token, with a wrong one or with that of a player is rejected; with the token it acts", async () => {
  const post = await start();
  const wrong = `${manager.operator.slice(0, -1)}${manager.operator.endsWith("A") ? "B" : "A"}`;
  for (const headers of [
    {},
    bearer("x"),
    bearer(wrong),
    bearer(manager.tokens.P01 ?? ""),
    { cookie: `token=${manager.operator}` },
  ]) {
    expect(await (await post({ origin: own(), ...headers })).text()).toContain(
      "the operator token is missing or wrong",
    );
    expect(await isPaused()).toBe(false);
  }
  expect(await (await post({ origin: own(), ...bearer(manager.operator) })).text()).toContain("PAUSED");
  expect(await isPaused()).toBe(true);
});

it("callers with a wrong token have the rate limit of callers without a token", async () => {
  const post = await start({ limits: { loopback: true } });
  const statuses: number[] = [];
  for (let count = 0; count < 120 && statuses.at(-1) !== 429; count++) {
    statuses.push((await post({ origin: own(), ...bearer(`guess-${count}`) })).status);
  }
  expect(statuses.at(-1)).toBe(429);
  expect(await isPaused()).toBe(false);
});

it("the page may not be framed, sends no form, and its document has nothing that only the operator may know", async () => {
  await start();
  const response = await fetch(`${own()}/leagues/rps/operator`);
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'none'");
  expect(policy).not.toContain("unsafe");
  expect(response.headers.get("set-cookie")).toBeNull();
  expect(await response.text()).not.toContain(manager.operator);
  const document = await read();
  expect(document).toMatchObject({
    can: { start: false, pause: true, resume: false, end: true, add_player: false, change_matches: true },
    extendable: [{ option: "cycles", value: 1, matches_each: 1 }],
    roles: ["player 1", "player 2"],
  });
  expect(Object.keys(document).sort()).toEqual(["can", "extendable", "league", "roles"]);
});
