import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import type { Fields } from "#shared/protocol/dialects/fields.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { startTestManager, type TestManager, type Wire } from "../testing/test-manager.ts";

let manager: TestManager;
beforeEach(async () => {
  manager = await startTestManager([
    { league_id: "full", game: "even_odd.v1", min_players: 2, max_players: 2 },
    { league_id: "open", game: "even_odd.v1", min_players: 100 },
    { league_id: "chess", game: "chess.v1", min_players: 2, max_players: 2 },
  ]);
});
afterEach(() => manager.stop());

async function post(path: string, body: unknown): Promise<{ status: number; body: Wire }> {
  const headers = { "content-type": "application/json" };
  const url = manager.url.replace("/mcp", path);
  const reply = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: reply.status, body: (await reply.json()) as Wire };
}

const endpointOf = (port: number): string => `http://127.0.0.1:${port}/mcp`;
const flat = (name: string, port: number, more: Fields = {}): Fields => ({
  display_name: name,
  endpoint: endpointOf(port),
  version: "1.0.0",
  game_types: ["even_odd"],
  league_id: "open",
  ...more,
});
const HEAD = {
  protocol: "league.v2",
  message_type: "LEAGUE_REGISTER_REQUEST",
  sender: "player:x",
  conversation_id: "c",
};
const rpc = (method: string, params: Fields): Fields => ({ jsonrpc: "2.0", id: 1, method, params });

describe.each(["/register", "/register_player", "/api/register"])("POST %s", (path) => {
  it("registers a flat body, a message and a JSON-RPC request, and answers a program in another dialect", async () => {
    const bodies = [flat("Ann", 9001), { ...HEAD, player_meta: flat("Bob", 9002), league_id: "open" }];
    for (const body of bodies) {
      const { status, body: answer } = await post(path, body);
      expect([status, answer]).toMatchObject([200, { status: "ACCEPTED", league_id: "open" }]);
    }
    const { body: answer } = await post(path, rpc("register_player", { ...HEAD, ...flat("Cyd", 9003) }));
    expect(answer.result).toMatchObject({ status: "ACCEPTED", player_id: "P03" });
  });

  it("registers a message that is divided into envelope and payload", async () => {
    const { body } = await post(path, {
      envelope: HEAD,
      payload: { player_meta: flat("Dan", 9004), league_id: "open" },
    });
    expect(body).toMatchObject({ status: "ACCEPTED", league_id: "open", display_name: "Dan" });
  });

  it("rejects a native envelope, whose sender would not be counted as a new agent", async () => {
    const payload = {
      display_name: "Dan",
      version: "1",
      game_types: ["even_odd.v1"],
      contact_endpoint: endpointOf(9004),
    };
    const { body } = await post(path, newEnvelope("PLAYER_REGISTER_REQUEST", "player:Dan", payload));
    expect(body.error).toMatchObject({ code: -32600 });
  });
});

test("the answers to a POST at another path and to a flat body at /mcp say what is expected", async () => {
  const wrong = await post("/players", flat("Ann", 9001));
  expect([wrong.status, wrong.body.error.message]).toEqual([404, expect.stringContaining("POST /mcp")]);
  const { body } = await post("/mcp", flat("Ann", 9001));
  expect(body.error).toMatchObject({ code: -32600, message: expect.stringContaining('"jsonrpc": "2.0"') });
});

test("register_player with the fields of the classroom registers a program of that dialect, and with player_name a native player", async () => {
  const tool = (args: Fields): Promise<{ body: Wire }> =>
    post("/mcp", rpc("tools/call", { name: "register_player", arguments: args }));
  const foreign = await tool(flat("Ann", 9001));
  expect(foreign.body.result).toMatchObject({ message_type: "LEAGUE_REGISTER_RESPONSE", player_id: "P01" });
  const native = await tool({ player_name: "Bob", endpoint: endpointOf(9002), game_types: ["even_odd.v1"] });
  expect(native.body.result.structuredContent).toMatchObject({ status: "ACCEPTED", player_id: "P02" });
  // Without an address it is a call of the native tool with a wrong field.
  const { body } = await tool({ display_name: "Cyd" });
  expect(body.error).toMatchObject({ code: -32602, data: { faults: [{ path: "player_name" }] } });
});

test("the answer to a registration has token and league in result, in its payload and in its envelope", async () => {
  const { body } = await post("/mcp", rpc("register_player", { ...HEAD, ...flat("Ann", 9001) }));
  const { auth_token, league_id } = body.result;
  expect([typeof auth_token, league_id]).toEqual(["string", "open"]);
  expect(body.result.payload).toMatchObject({ auth_token, league_id, player_id: "P01" });
  expect(body.result.envelope).toMatchObject({ auth_token, league_id, message_type: "LEAGUE_REGISTER_RESPONSE" });
});

test("messages that the manager does not need are acknowledged; those of unknown senders only if they say that a program is there", async () => {
  await post("/register", flat("Ann", 9001));
  const send = async (message_type: string, sender: string): Promise<Wire> => {
    const { body } = await post("/mcp", rpc(message_type, { ...HEAD, message_type, sender }));
    return body.result ?? body.error;
  };
  const accepted = { status: "ACCEPTED", success: true };
  expect(await send("AGENT_READY_REQUEST", "player:P01")).toMatchObject({
    ...accepted,
    message_type: "AGENT_READY_RESPONSE",
  });
  expect(await send("PLAYER_SETTINGS", "player:P01")).toMatchObject({
    ...accepted,
    message_type: "ACK",
    player_id: "P01",
  });
  expect(await send("HEARTBEAT", "player:alpha")).toMatchObject({ ...accepted, message_type: "ACK" });
  expect(await send("PLAYER_SETTINGS", "player:alpha")).toMatchObject({ code: -32602 });
  expect(await send("X".repeat(101), "player:P01")).toMatchObject({ code: -32602 });
});

test.each<[string, string, object]>([
  ["broken JSON", "{", { error: { code: -32700 } }],
  ["an empty batch", "[]", { error: { code: -32600 } }],
  ["no object", "7", { error: { code: -32600 } }],
  ["no field", "{}", { message_type: "LEAGUE_ERROR", error_code: "E003" }],
  ["fields of wrong types", '{"endpoint":7,"display_name":[]}', { message_type: "LEAGUE_ERROR", error_code: "E003" }],
])("a registration with %s is rejected", async (_, body, expected) => {
  const headers = { "content-type": "application/json" };
  const reply = await fetch(manager.url.replace("/mcp", "/register"), { method: "POST", headers, body });
  expect(await reply.json()).toMatchObject(expected);
});

test("a repeated registration has the same player and token", async () => {
  const answers = [await post("/register", flat("Ann", 9001)), await post("/register", flat("Ann", 9001))];
  const [first, second] = answers.map(({ body: { player_id, auth_token } }) => ({ player_id, auth_token }));
  expect(first).toMatchObject({ player_id: "P01", auth_token: expect.any(String) });
  expect(second).toEqual(first);
});

describe("a program without a league, or with one that does not exist", () => {
  it.each([undefined, "league_2025"])("enters the first league with a place (%s)", async (league_id) => {
    for (const port of [9008, 9009]) await post("/register", flat(`N${port}`, port, { league_id: "full" }));
    const { body } = await post("/register", flat("Ann", 9001, { league_id }));
    expect(body).toMatchObject({ status: "ACCEPTED", league_id: "open" });
  });

  it("is not told that its leagues are full if only leagues of other games are full", async () => {
    const first = { game_types: ["chess"], league_id: "chess" };
    for (const port of [9008, 9009]) await post("/register", flat(`N${port}`, port, first));
    const { body } = await post("/register", flat("Ann", 9001, { game_types: ["rps"], league_id: undefined }));
    expect(body).toMatchObject({
      status: "REJECTED",
      reason: expect.stringMatching(/^no league of your games is open/),
    });
  });
});

test("a program of league.v1 is always answered with the status of its specification", async () => {
  const message = { ...HEAD, protocol: "league.v1", player_meta: flat("Ann", 9001) };
  for (let n = 0; n < 4; n++) {
    const { body } = await post("/mcp", { ...rpc("register_player", message), id: n });
    expect(body.result.status).toBe("ACCEPTED");
  }
});
