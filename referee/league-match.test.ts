import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcRequest, rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { clients } from "#shared/rpc/testing/mcp-clients.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startReferee } from "./service.ts";

const TOKEN = "the referee's own token";
/** The port of the referee, new for each test. The manager and the two players have the next ones. */
let port = 0;
const at = (offset: number): string => `http://127.0.0.1:${port + offset}/mcp`;
let dataFolder = "";
let referee: RunningAgent;
let servers: Server[] = [];
/** The messages that the manager and the players have received. */
let received: string[] = [];
/** P02 answers its move request when this is resolved. */
let mayAnswer = Promise.withResolvers<void>();

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON from the wire
type Wire = any;

/** Starts an agent on plain node:http that answers each envelope with the result of `answer`. */
function agent(offset: number, answer: (message: Wire) => object | Promise<object>): Promise<void> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const { id, params } = JSON.parse(text);
    const result = textResult(await answer(params.arguments));
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(rpcResponse(id, result)));
  });
  servers.push(server);
  return new Promise((resolve) => server.listen(port + offset, "127.0.0.1", resolve));
}

const player = (offset: number, moving: () => Promise<void>) =>
  agent(offset, async ({ type, payload: { match_id, tick } }) => {
    received.push(`${offset} ${type}`);
    const self = offset === 2 ? "player:P01" : "player:P02";
    if (type === "GAME_INVITE") return newEnvelope("GAME_INVITE_RESPONSE", self, { match_id, accept: true });
    if (type !== "MOVE_REQUEST") return newEnvelope("ACK", self, {});
    await moving();
    return newEnvelope("MOVE_RESPONSE", self, { match_id, tick, move: offset === 2 ? "rock" : "scissors" });
  });

beforeEach(async () => {
  [port = 0] = await freePorts(4);
  received = [];
  servers = [];
  mayAnswer = Promise.withResolvers();
  dataFolder = mkdtempSync(join(tmpdir(), "agent-test-"));
  await agent(1, ({ type, payload }) => {
    received.push(`manager ${type} ${payload.winner ?? ""}`.trim());
    if (type === "MATCH_RESULT")
      return newEnvelope("MATCH_RESULT_RESPONSE", "league_manager:LM01", { status: "RECORDED" });
    const accepted = { status: "ACCEPTED", referee_id: "REF01", auth_token: TOKEN, league_ids: ["rps"], matches: [] };
    return newEnvelope("REFEREE_REGISTER_RESPONSE", "league_manager:LM01", accepted);
  });
  await player(2, async () => {});
  await player(3, () => mayAnswer.promise);
  const place = { name: "R", host: "127.0.0.1", ports: [port], manager: at(1), dataFolder };
  referee = await startReferee(place, silentProcess("referee"));
  await vi.waitFor(async () => expect((await fetch(at(0).replace("/mcp", "/ready"))).status).toBe(200), WAIT_OPTIONS);
});
afterEach(async () => {
  mayAnswer.resolve();
  await referee.stop();
  for (const server of servers) server.close().closeAllConnections();
  rmSync(dataFolder, { recursive: true, force: true });
});

async function call(method: string, params: object): Promise<Wire> {
  const body = JSON.stringify(rpcRequest(method, params));
  return (await fetch(at(0), { method: "POST", headers: { "content-type": "application/json" }, body })).json();
}
async function tool(name: string, args: object): Promise<Wire> {
  const { result, error } = await call("tools/call", { name, arguments: args });
  return error ?? { isError: result.isError ?? false, ...JSON.parse(result.content[0].text) };
}
const message = (type: MessageType, payload: object, authToken?: string): Promise<Wire> =>
  tool("league_message", newEnvelope(type, "league_manager:LM01", payload, { authToken }));

const seat = (id: string, offset: number) => ({ player_id: id, endpoint: at(offset), match_token: `token-of-${id}` });
const order = (more: object = {}) => ({
  league_id: "rps",
  round_id: 1,
  match_id: "R1M1",
  epoch: 1,
  game: "rps.v1",
  options: {},
  seed: "seed",
  roles: { player_1: seat("P01", 2), player_2: seat("P02", 3) },
  timeouts: { join_ms: 5_000, move_ms: 5_000, game_over_ms: 500 },
  ...more,
});
const signature = signFor(sha256Hex(TOKEN), "rps/R1M1");
/** Starts the match. Resolves when P01 has chosen and the request to P02 is open. */
async function startHalfTurn(): Promise<Wire> {
  const started = await message("START_GAME", order(), signature);
  await vi.waitFor(async () => {
    expect(await tool("get_game_state", { match_id: "R1M1", auth_token: "token-of-P01" })).toMatchObject({
      state: { choices: { player_1: "rock" } },
    });
  }, WAIT_OPTIONS);
  return started;
}

describe("start_game", () => {
  it("is rejected without the manager's signature for this match", async () => {
    const others = [
      undefined,
      "",
      "wrong",
      TOKEN,
      signFor(sha256Hex("x"), "rps/R1M1"),
      signFor(sha256Hex(TOKEN), "rps/R1M2"),
    ];
    for (const token of others) {
      const rejected = await message("START_GAME", order(), token);
      expect(rejected).toMatchObject({ isError: true, type: "LEAGUE_ERROR", payload: { error_code: "L004" } });
    }
    const plain = await tool("start_game", order());
    expect(plain).toMatchObject({ isError: true, error_code: "L004" });
    expect(await tool("get_game_state", { match_id: "R1M1" })).toMatchObject({ isError: true, error_code: "G003" });
    expect(received.filter((line) => line.includes("GAME_INVITE"))).toEqual([]);
  });

  it("with two players is rejected for a game of four", async () => {
    const players = { player1_id: "P01", player1_endpoint: at(2), player2_id: "P02", player2_endpoint: at(3) };
    const match = { league_id: "rps", match_id: "R1M1", seed: "seed", game: "codenames.v1" };
    const orders = [{ ...match, ...players }, order({ game: "codenames.v1" })];
    for (const startGame of orders) {
      const rejected = await tool("start_game", { ...startGame, auth_token: signature });
      expect(rejected).toMatchObject({ isError: true, error_code: "G003" });
      expect(rejected.message).toMatch(/^codenames\.v1 is played by red_spymaster and red_team and blue_spymaster and/);
    }
    expect(received.filter((line) => line.includes("GAME_INVITE"))).toEqual([]);
  });

  it("starts one session, however often it is repeated", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => message("START_GAME", order(), signature)));
    const plain = await tool("start_game", { ...order(), auth_token: signature });
    const ids = [...answers.map(({ payload }) => payload.session_id), plain.session_id];
    expect(answers[0]).toMatchObject({
      type: "START_GAME_RESPONSE",
      payload: { status: "ACCEPTED", match_id: "R1M1" },
    });
    expect(new Set(ids).size).toBe(1);
    mayAnswer.resolve();
    await vi.waitFor(() => expect(received).toContain("manager MATCH_RESULT P01"), WAIT_OPTIONS);
    expect(received.filter((line) => line.endsWith("GAME_INVITE")).sort()).toEqual(["2 GAME_INVITE", "3 GAME_INVITE"]);
    expect(received.filter((line) => line.startsWith("manager MATCH_RESULT"))).toHaveLength(1);
  });
});

describe("a match under way", () => {
  it("answers validate_move with whether a move is legal, and does not play it", async () => {
    await startHalfTurn();
    const ask = (move: unknown) => tool("validate_move", { player_id: "P02", move });
    expect(await ask("paper")).toMatchObject({ valid: true, reason: null });
    expect(await ask("banana")).toMatchObject({ valid: false, reason: expect.any(String) });
    // P01 has chosen and P02 has not. The answers must not differ.
    for (const move of ["paper", "banana", 3]) {
      const { valid, reason } = await ask(move);
      expect(await tool("validate_move", { player_id: "P01", move })).toMatchObject({ valid, reason });
    }
    expect(await tool("validate_move", { player_id: "P09", move: "rock" })).toMatchObject({ error_code: "G003" });
    const gameState = await tool("get_game_state", { match_id: "rps/R1M1" });
    expect(gameState.state.choices).toEqual({ player_1: null, player_2: null });
  });

  it("can be watched with the tools of games, but not joined or played", async () => {
    const { session_id: game_id } = (await startHalfTurn()).payload;
    const play = async (name: string, args: object) => {
      const { result } = await call("tools/call", { name, arguments: { game_id, ...args } });
      return { isError: result.isError ?? false, text: result.content[0].text, ...result.structuredContent };
    };
    const seat_token = "token-of-P02";
    expect(await play("waitForNextTurn", { seat_token })).toMatchObject({
      your_role: "player_2",
      next: "your_turn",
      state: { choices: { player_1: null } },
      players: { player_1: { kind: "agent", name: "P01" } },
    });
    const rejection = { isError: true, text: expect.stringContaining("answer its MOVE_REQUEST") };
    expect(await play("finishTurn", { seat_token, move: "rock" })).toMatchObject(rejection);
    expect(await play("joinGame", {})).toMatchObject({ isError: true, text: `No game ${game_id} here` });
    expect(await play("finishTurn", { move: "rock" })).toMatchObject({ isError: true });
    const waited = play("waitForNextTurn", { seat_token: "token-of-P01", timeout_s: 30 });
    mayAnswer.resolve();
    expect(await waited).toMatchObject({ next: "game_over", result: { winner: "player_1" } });
  });

  it("shows a sealed choice only to the player that made it", async () => {
    await startHalfTurn();
    const spectator = await tool("get_game_state", { match_id: "R1M1" });
    expect(spectator).toMatchObject({ status: "active", state: { choices: { player_1: null, player_2: null } } });
    expect(JSON.stringify(spectator)).not.toContain("rock");
    const own = await tool("get_game_state", { match_id: "R1M1", auth_token: "token-of-P01" });
    expect(own).toMatchObject({ your_role: "player_1", state: { choices: { player_1: "rock", player_2: null } } });
    const other = await tool("get_game_state", { match_id: "R1M1", auth_token: "token-of-P02" });
    expect(other).toMatchObject({ your_role: "player_2", state: { choices: { player_1: null } } });
    for (const uri of ["game://state/R1M1", "game://state/rps/R1M1"]) {
      const { contents } = (await call("resources/read", { uri })).result;
      expect(contents[0]).toMatchObject({ uri, mimeType: "application/json" });
      expect(JSON.parse(contents[0].text)).toMatchObject({ state: { choices: { player_1: null, player_2: null } } });
    }
    expect((await call("resources/read", { uri: "game://state/R9M9" })).error.code).toBe(-32602);
  });
});

describe("a result", () => {
  it("is sent to the players only after the manager has recorded it if the order has no run_id", async () => {
    await message("START_GAME", order(), signature);
    mayAnswer.resolve();
    await vi.waitFor(
      () => expect(received.filter((line) => line.endsWith("GAME_RESULT"))).toHaveLength(2),
      WAIT_OPTIONS,
    );
    expect(received.findIndex((line) => line.startsWith("manager MATCH_RESULT"))).toBeGreaterThan(0);
    expect(received.findIndex((line) => line.startsWith("manager MATCH_RESULT"))).toBeLessThan(
      received.findIndex((line) => line.endsWith("GAME_RESULT")),
    );
  });
});

describe.each(Object.keys(clients))("an official MCP client at %s", (revision) => {
  it("lists and calls the tools of the referee and receives updates of a subscribed match", async () => {
    await startHalfTurn();
    const client = await clients[revision]?.(at(0));
    if (!client) throw new Error("no client");
    try {
      const names = (await client.tools()).map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["start_game", "league_message", "createGame", "end_game"]));
      const sealed = { status: "active", tick: 0, state: { choices: { player_1: null, player_2: null } } };
      const called = await client.call("get_game_state", { match_id: "R1M1" });
      expect(called).toMatchObject({ structuredContent: sealed });
      expect(await client.call("start_game", order())).toMatchObject({ isError: true });
      expect(await client.templates()).toEqual([
        "game://state/board/{game_token}",
        "game://state/history/{game_token}",
        "game://context/current-role/{game_token}",
        "game://rules/{game}",
        "game://state/{match_id}",
        "game://state/{league_id}/{match_id}",
      ]);
      expect(await client.read("game://state/R1M1")).toMatchObject(sealed);
      await client.subscribe(["game://state/R1M1", "game://state/rps/R1M1"]);
      mayAnswer.resolve();
      await vi.waitFor(
        () => expect([...client.updated].sort()).toEqual(["game://state/R1M1", "game://state/rps/R1M1"]),
        WAIT_OPTIONS,
      );
      expect(await client.read("game://state/rps/R1M1")).toMatchObject({ status: "completed" });
    } finally {
      await client.close();
    }
  });
});

describe("a league match over REST", () => {
  async function rest(path: string, player: string, body?: object): Promise<Wire> {
    const headers = { authorization: `Bearer token-of-${player}` };
    const init = body ? { method: "POST", body: JSON.stringify(body), headers } : { headers };
    return (await fetch(at(0).replace("/mcp", path), init)).json();
  }

  it("is shown to each player as its own view, and actions over REST are rejected", async () => {
    await startHalfTurn();
    const { sessions } = await rest("/sessions", "P02");
    expect(sessions).toMatchObject([{ template: "rps.v1", status: "active", tick: 1, your_role: "player_2" }]);
    const path = `/sessions/${sessions[0].session_id}`;
    const hidden = { choices: { player_1: null, player_2: null } };
    expect(await rest(`${path}/state`, "P02")).toMatchObject({ your_role: "player_2", tick: 1, state: hidden });
    expect(await rest(`${path}/state`, "P01")).toMatchObject({ state: { choices: { player_1: "rock" } } });
    expect(await rest(`${path}/log`, "P02")).toEqual({ actions: [] });
    expect((await rest(`${path}/log`, "P01")).actions).toMatchObject([{ role: "player_1", action: "rock", tick: 0 }]);
    const rejected = await rest(`${path}/actions`, "P02", { action: "paper" });
    expect(rejected).toMatchObject({ error: { code: "FORBIDDEN", message: expect.stringContaining("MOVE_REQUEST") } });
    mayAnswer.resolve();
    await vi.waitFor(
      async () => expect(await rest(`${path}/state`, "P02")).toMatchObject({ status: "completed" }),
      WAIT_OPTIONS,
    );
    expect((await rest(`${path}/log`, "P02")).actions).toHaveLength(2);
  });
});
