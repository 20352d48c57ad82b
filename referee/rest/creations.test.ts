import { afterAll, beforeAll, expect, it } from "vitest";
import { CREATIONS_PER_MINUTE } from "#shared/rpc/jsonrpc/rate-limit.ts";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import { startTestHost, type TestHost } from "./testing/host.ts";

const REMOTE = "203.0.113.9";
const JSON_CONTENT = { "content-type": "application/json" };

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

it("creations of agents, sessions and games from one remote network share one limit, with and without a token", async () => {
  const [one, two] = [await host.agent(), await host.agent()];
  const { token } = one;
  // Sends a request as a proxy on the machine of the host does for a remote caller.
  const from = (address: string, path: string, body: object | undefined) =>
    host.call("POST", path, { token, body, headers: { ...JSON_CONTENT, "x-forwarded-for": address } });
  const tool = (address: string, name: string, args: object) => from(address, "/mcp", rpcToolCall(name, args));
  const game = { template: "tic_tac_toe", opponent: "agent" };
  const session = { template: "tic_tac_toe.v1", participants: { x: one.agent_id, o: two.agent_id } };
  const creations: Readonly<Record<string, (address: string) => ReturnType<TestHost["call"]>>> = {
    agent: (address) => from(address, "/agents", undefined),
    session: (address) => from(address, "/sessions", session),
    game: (address) => tool(address, "createGame", game),
    page: (address) => from(address, "/api/games", { template: "tic_tac_toe", opponent: "human", name: "Ann" }),
  };
  const creationKinds = Object.entries(creations);
  for (let n = 0; n < CREATIONS_PER_MINUTE.referee; n++) {
    const [name, create] = creationKinds[n % creationKinds.length] as (typeof creationKinds)[number];
    const { status, text } = await create(REMOTE);
    expect([200, 201], `${name}: ${text}`).toContain(status);
    expect(text).toMatch(/_id/);
  }
  for (const [name, create] of creationKinds) {
    const rejected = await create(REMOTE);
    expect([rejected.status, rejected.headers.get("retry-after")], name).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(rejected.headers.get("ratelimit-policy"), name).toBe(`"creations";q=${CREATIONS_PER_MINUTE.referee};w=60`);
  }
  const asEnvelope = { protocol: "league.v2", type: "CREATE_GAME", payload: game };
  expect((await tool(REMOTE, "league_message", asEnvelope)).status).toBe(429);
  expect((await tool(REMOTE, "create_new_game", {})).status).toBe(429);

  const list = await host.call("GET", "/sessions", { token, headers: { "x-forwarded-for": REMOTE } });
  expect(list.status).toBe(200);
  for (const address of ["203.0.113.10", "127.0.0.1"]) {
    for (const [name, create] of creationKinds) expect([200, 201], name).toContain((await create(address)).status);
  }
  expect((await host.call("POST", "/agents")).status).toBe(201);
});
