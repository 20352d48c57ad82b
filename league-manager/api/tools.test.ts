import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcRequest } from "#shared/rpc/testing/json-rpc.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startManager } from "../service.ts";
import { startProgram } from "../testing/test-manager.ts";

/** Each test uses another port, because `fetch` keeps connections to the port of the previous test. */
let port = 0;
let url = "";
let dataFolder = "";
let manager: RunningAgent;
let operator = "";

beforeEach(async () => {
  dataFolder = mkdtempSync(join(tmpdir(), "agent-test-"));
  port = await freePort();
  url = `http://127.0.0.1:${port}/mcp`;
  const config = Config.parse({
    manager: { port },
    leagues: [
      { league_id: "rps", game: "rps.v1", max_players: 3 },
      { league_id: "eo", game: "even_odd.v1" },
    ],
    timeouts: { default_ms: 300 },
  });
  manager = await startManager({ config, dataFolder, seed: sha256Hex("s") }, silentProcess("manager"));
  operator = readFileSync(join(dataFolder, "operator-token"), "utf8").trim();
});
afterEach(async () => {
  await manager.stop();
  rmSync(dataFolder, { recursive: true, force: true });
});

interface Reply {
  readonly status: number;
  /** A parsed response. */
  readonly body: ReturnType<typeof JSON.parse>;
}

async function call(method: string, params: object = {}, bearer?: string): Promise<Reply> {
  const headers = { "content-type": "application/json", ...(bearer && { authorization: `Bearer ${bearer}` }) };
  const body = JSON.stringify(rpcRequest(method, params, 7));
  const response = await fetch(url, { method: "POST", headers, body });
  return { status: response.status, body: await response.json() };
}

/** Calls a named tool. Returns the parsed text of its result, with `isError`. */
async function tool(name: string, args: object = {}, bearer?: string) {
  const { body } = await call("tools/call", { name, arguments: args }, bearer);
  if (body.error) return body.error;
  return { isError: body.result.isError ?? false, ...JSON.parse(body.result.content[0].text) };
}

const message = (type: MessageType, sender: string, payload: object, authToken?: string, name = "league_message") =>
  tool(name, newEnvelope(type, sender, payload, { authToken }));

const endpoint = (n: number): string => `http://127.0.0.1:${9_000 + n}/mcp`;
const addPlayer = (n: number, more: object = {}) =>
  tool("register_player", { player_name: `P${n}`, endpoint: endpoint(n), ...more });
const addReferee = (n: number) => tool("register_referee", { referee_name: `R${n}`, endpoint: endpoint(50 + n) });
const asPlayer = (payload: object, token?: string) => {
  const registration = { display_name: "Env", version: "1", game_types: ["rps.v1"], contact_endpoint: endpoint(9) };
  return message("PLAYER_REGISTER_REQUEST", "player:Env", { ...registration, ...payload }, token);
};

describe("MCP without a session", () => {
  it("answers initialize, tools/list, resources/list and resources/read", async () => {
    const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "x", version: "1" } };
    expect((await call("initialize", params)).body).toMatchObject({
      jsonrpc: "2.0",
      id: 7,
      result: {
        protocolVersion: "2024-11-05",
        capabilities: { tools: {}, resources: {} },
        serverInfo: { name: "league-manager" },
      },
    });
    const { tools } = (await call("tools/list")).body.result;
    const names = tools.map(({ name }: { name: string }) => name);
    const expected = [
      "register_player",
      "register_referee",
      "get_standings",
      "get_ratings",
      "get_schedule",
      "schedule_match",
    ];
    expect(names).toEqual(expect.arrayContaining([...expected, "start_league", "list_leagues", "league_message"]));
    const registerPlayer = tools.find(({ name }: { name: string }) => name === "register_player");
    expect(registerPlayer.inputSchema).toMatchObject({
      type: "object",
      properties: { player_name: { type: "string" }, endpoint: { type: "string" } },
    });
    expect(registerPlayer.inputSchema.required).toEqual(["player_name"]);
    const { resources } = (await call("resources/list")).body.result;
    expect(resources[0]).toMatchObject({ uri: "league://standings", mimeType: "application/json" });
    expect(resources[0].description).toContain("SHUTDOWN when all its leagues are over, which is no fault");
    expect(resources.map(({ uri }: { uri: string }) => uri)).toContain("league://schedule");
  });

  it("reads resources and templates", async () => {
    expect(await addPlayer(1)).toMatchObject({ status: "ACCEPTED", player_id: "P01" });
    const read = async (uri: string) => (await call("resources/read", { uri })).body.result.contents[0];
    const standings = await read("league://standings");
    expect(standings).toMatchObject({ uri: "league://standings", mimeType: "application/json" });
    const counts = { played: 0, wins: 0, draws: 0, losses: 0, points: 0 };
    const row = { rank: 1, player_id: "P01", display_name: "P1", ...counts, state: "REGISTERED" };
    expect(JSON.parse(standings.text)).toEqual({
      standings: [
        { league_id: "rps", ...row },
        { league_id: "eo", ...row },
      ],
    });
    expect(JSON.parse((await read("league://schedule")).text)).toEqual({ schedule: [] });
    expect(JSON.parse((await read("league://eo/standings")).text).standings).toEqual([{ league_id: "eo", ...row }]);
    expect(JSON.parse((await read("league://eo/schedule")).text)).toEqual({ schedule: [] });
    for (const uri of ["league://nowhere/standings", "match://rps/R9M9", "nonsense"]) {
      expect((await call("resources/read", { uri })).body.error.code).toBe(-32602);
    }
    const { resourceTemplates } = (await call("resources/templates/list")).body.result;
    expect(resourceTemplates.map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate)).toEqual([
      "league://{league_id}/standings",
      "league://{league_id}/ratings",
      "league://{league_id}/schedule",
      "league://{league_id}/schedule/{round_id}",
      "match://{league_id}/{match_id}",
    ]);
  });

  it("answers invalid requests with error codes and HTTP statuses", async () => {
    expect(await call("no/such")).toMatchObject({ status: 404, body: { error: { code: -32601 } } });
    expect(await call("tools/call", { name: "nope" })).toMatchObject({
      status: 200,
      body: { error: { code: -32602 } },
    });
    const spaced = await addPlayer(1, { bot_hash: "not a hash" });
    expect(spaced).toMatchObject({ code: -32602, data: { faults: [{ path: "bot_hash" }] } });
    expect(await addPlayer(1, { bot_hash: "git:1f2e3d" })).toMatchObject({ status: "ACCEPTED" });
    const missing = await tool("register_player", { endpoint: endpoint(1) });
    expect(missing).toMatchObject({ code: -32602, data: { faults: [{ path: "player_name" }] } });
  });
});

describe("named tools", () => {
  it("answer plain arguments with plain results", async () => {
    await addPlayer(1);
    expect(await addReferee(1)).toMatchObject({ status: "ACCEPTED", referee_id: "REF01" });
    expect(await tool("get_standings", { league_id: "eo" })).toMatchObject({
      standings: [{ rank: 1, player_id: "P01" }],
    });
    expect(await tool("get_schedule", { league_id: "eo" })).toMatchObject({ schedule: [] });
    const unrated = { player_id: "P01", display_name: "P1", rating: 1500, error: 0, matches: 0, percent: null };
    const ratings = { league_id: "eo", model: "bradley-terry", matches: 0, players: [unrated], comparisons: [] };
    expect(await tool("get_ratings", { league_id: "eo" })).toMatchObject(ratings);
    expect((await call("resources/read", { uri: "league://eo/ratings" })).body.result.contents[0].text).toBe(
      JSON.stringify(ratings),
    );
    expect(await tool("get_ratings", { league_id: "x" })).toMatchObject({ isError: true, error_code: "L005" });
    expect((await tool("list_leagues")).leagues).toMatchObject([
      { league_id: "rps", status: "open", players: 1, max_players: 3 },
      { league_id: "eo", status: "open", players: 1, max_players: null },
    ]);
    expect(await tool("get_standings", { league_id: "x" })).toMatchObject({ isError: true, error_code: "L005" });
  });

  it("answer envelopes with envelopes", async () => {
    const request = newEnvelope("LIST_LEAGUES", "player:registration", {});
    expect(await tool("list_leagues", request)).toMatchObject({
      protocol: "league.v2",
      type: "LIST_LEAGUES_RESPONSE",
      sender: "league_manager:LM01",
      correlation_id: request.message_id,
      payload: { leagues: [{ league_id: "rps" }, { league_id: "eo" }] },
    });
    const unknownLeague = await message(
      "GET_STANDINGS",
      "player:registration",
      { league_id: "x" },
      undefined,
      "get_standings",
    );
    expect(unknownLeague).toMatchObject({ isError: true, type: "LEAGUE_ERROR", payload: { error_code: "L005" } });
    const wrongTool = await message("LIST_LEAGUES", "player:registration", {}, undefined, "get_standings");
    expect(wrongTool).toMatchObject({ code: -32602 });
  });

  it("execute league operations only for the operator", async () => {
    await addPlayer(1);
    const { auth_token: token } = await addPlayer(2);
    const match = { player1_id: "P01", player2_id: "P02", round_id: 1, league_id: "eo" };
    for (const callerToken of [undefined, "wrong", token]) {
      for (const [name, args] of [
        ["start_league", { league_id: "eo" }],
        ["schedule_match", match],
      ] as const) {
        expect(await tool(name, args, callerToken)).toMatchObject({ isError: true, error_code: "L004" });
      }
    }
    expect((await tool("list_leagues")).leagues[1].status).toBe("open");
    expect(await tool("start_league", { league_id: "eo" }, operator)).toMatchObject({
      error_code: "L001",
      retryable: true,
    });
    await addReferee(1);
    const started = await tool("start_league", { league_id: "eo", auth_token: operator });
    expect(started).toMatchObject({ isError: false, status: "STARTED", league_id: "eo", matches: 1 });
    expect(await tool("start_league", { league_id: "eo" }, operator)).toMatchObject({ error_code: "L005" });
    expect(await tool("schedule_match", match, operator)).toMatchObject({ status: "SCHEDULED", match_id: "R1M2" });
    expect((await tool("get_schedule", { league_id: "eo" })).schedule).toHaveLength(2);
  });
});

describe("registration", () => {
  it("is rejected with the code of the fault", async () => {
    expect(await asPlayer({ league_ids: ["nowhere"] })).toMatchObject({
      type: "PLAYER_REGISTER_RESPONSE",
      payload: { status: "REJECTED", player_id: null, auth_token: null, error_code: "L005" },
    });
    const foreign = await asPlayer({ contact_endpoint: "http://192.0.2.1:8101/mcp" });
    expect(foreign).toMatchObject({ payload: { status: "REJECTED", error_code: "L001" } });
    expect(await asPlayer({ contact_endpoint: "nonsense" })).toMatchObject({ payload: { error_code: "L001" } });
    expect(await asPlayer({ game_types: ["go.v1"] })).toMatchObject({ payload: { error_code: "L001" } });
    for (const n of [1, 2, 3]) await addPlayer(n);
    expect(await asPlayer({ league_ids: ["rps"] })).toMatchObject({ payload: { error_code: "L002" } });
    expect((await tool("list_leagues")).leagues).toMatchObject([{ players: 3 }, { players: 3 }]);
  });

  it("with the token of a registered player keeps the id, and without it is rejected", async () => {
    const contact_endpoint = `http://127.0.0.1:${await startProgram()}/mcp`;
    const first = (await asPlayer({ contact_endpoint })).payload;
    expect(first).toMatchObject({ status: "ACCEPTED", player_id: "P01", league_ids: ["rps"], reason: null });
    expect(Buffer.from(first.auth_token, "base64url")).toHaveLength(32);
    const rejected = { status: "REJECTED", error_code: "L003", player_id: null };
    expect((await asPlayer({ contact_endpoint })).payload).toMatchObject(rejected);
    expect((await asPlayer({ contact_endpoint: endpoint(10) })).payload).toMatchObject(rejected);
    expect((await asPlayer({ display_name: "Other", contact_endpoint })).payload).toMatchObject(rejected);
    const { host, port: registeredPort } = new URL(contact_endpoint);
    for (const contact_endpoint of [
      `HTTP://${host}/mcp`,
      `http://localhost:${registeredPort}/mcp`,
      `http://127.1:${registeredPort}/mcp?#a`,
    ])
      expect((await asPlayer({ display_name: "Other", contact_endpoint })).payload).toMatchObject(rejected);
    expect((await asPlayer({ contact_endpoint }, "wrong")).payload).toMatchObject(rejected);
    const again = (await asPlayer({ contact_endpoint: endpoint(10) }, first.auth_token)).payload;
    expect(again).toMatchObject({ status: "ACCEPTED", player_id: "P01" });
  });

  it("of a new player may propose a token, so that the player can register again without having received the answer", async () => {
    const proposed = systemIds.token();
    const first = (await asPlayer({}, proposed)).payload;
    expect(first).toMatchObject({ status: "ACCEPTED", player_id: "P01", auth_token: proposed });
    expect((await asPlayer({}, proposed)).payload).toMatchObject({
      status: "ACCEPTED",
      player_id: "P01",
      auth_token: proposed,
    });
    expect((await asPlayer({}, systemIds.token())).payload).toMatchObject({ status: "REJECTED", error_code: "L003" });
  });

  it.each(["a text without the form of a token", "another agent's token", "the operator's token"])(
    "does not accept %s as the token of a new player",
    async (kind) => {
      const otherToken = (await addPlayer(1)).auth_token;
      const tokens: Record<string, string> = { "another agent's token": otherToken, "the operator's token": operator };
      const token = tokens[kind] ?? "hunter2";
      const { payload } = await asPlayer({}, token);
      expect(payload).toMatchObject({ status: "ACCEPTED", player_id: "P02" });
      expect(payload.auth_token).not.toBe(token);
      const byBearer = await tool("register_player", { player_name: "P3", endpoint: endpoint(3) }, token);
      expect(byBearer).toMatchObject({ status: "ACCEPTED", player_id: "P03" });
      expect(byBearer.auth_token).not.toBe(token);
    },
  );
});
