import { once } from "node:events";
import { request as httpRequest, type OutgoingHttpHeaders } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { systemIds } from "#shared/lib/ids.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcOf, startTestManager, type TestManager } from "../testing/test-manager.ts";

let manager: TestManager;
afterEach(() => manager?.stop());

const LEAGUES = [{ league_id: "rps", game: "rps.v1" }];
const JSON_BODY = { "content-type": "application/json" };

/** Sends a request with these headers and, if given, a body. Resolves with the status, which may arrive before the body is sent. */
async function statusOf(headers: OutgoingHttpHeaders, method = "POST", path = "/mcp", body?: string): Promise<number> {
  const { port } = manager;
  const request = httpRequest({ host: "127.0.0.1", port, method, path, agent: false, headers });
  request.on("error", () => {}).flushHeaders();
  if (body !== undefined) request.end(body);
  const [response] = await once(request, "response");
  request.destroy();
  return response.statusCode;
}

describe("a body of 300 kB", () => {
  const long = rpcOf("ping").padEnd(300_000, " ");
  const headersOf = (token?: string) => ({
    ...JSON_BODY,
    "content-length": long.length,
    ...(token && { authorization: `Bearer ${token}` }),
  });

  it("is accepted from referees only", async () => {
    manager = await startTestManager(LEAGUES);
    await manager.register("P01", "REF01");
    const { P01, REF01 } = manager.tokens;
    for (const token of [undefined, systemIds.token(), P01, manager.operator]) {
      expect(await statusOf(headersOf(token))).toBe(413);
    }
    expect(await statusOf(headersOf(REF01), "POST", "/mcp", long)).toBe(200);
  });
});

it.each(["10.0.0.1", "evil.example"])("a call with the Host %s is rejected with 403", async (host) => {
  manager = await startTestManager(LEAGUES);
  const body = rpcOf("ping");
  const statusesFor = async (hostHeader: string) => [
    await statusOf({ ...JSON_BODY, host: hostHeader }, "POST", "/mcp", body),
    await statusOf({ host: hostHeader }, "GET", "/leagues", ""),
  ];
  expect(await statusesFor(`${host}:${manager.port}`)).toEqual([403, 403]);
  expect(await statusesFor(host)).toEqual([403, 403]);
  expect(await statusesFor(`127.0.0.1:${manager.port}`)).toEqual([200, 200]);
});

it("callers without a token of the league may send 100 requests per minute, and other callers have no limit", async () => {
  manager = await startTestManager(LEAGUES, { limits: { loopback: true } });
  await manager.register("P01");
  const ask = async (token?: string): Promise<number> => (await manager.post(rpcOf("ping"), token)).status;
  const first = await Promise.all(Array.from({ length: 98 }, () => ask()));
  expect(new Set(first)).toEqual(new Set([200]));
  expect([await ask(systemIds.token()), await ask(systemIds.token()), await ask()]).toEqual([200, 429, 429]);
  expect([await ask(manager.tokens.P01), await ask(manager.operator)]).toEqual([200, 200]);
  const asP01 = newEnvelope("LIST_LEAGUES", "player:P01", {}, { authToken: manager.tokens.P01 });
  const enveloped = await manager.post(rpcOf("tools/call", { name: "league_message", arguments: asP01 }));
  expect(enveloped.status).toBe(200);
});
