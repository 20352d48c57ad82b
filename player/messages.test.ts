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
import { rpcResponse, rpcToolCall, textResult } from "#shared/rpc/testing/json-rpc.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startPlayer } from "./service.ts";

const TOKEN = "the player's own token";
const signature = signFor(sha256Hex(TOKEN), "rps/R1M1");
/** The port of the player, new for each test; the manager has the next one. */
let port = 0;
let url = "";
let dataFolder = "";
let player: RunningAgent;
let manager: Server;

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON from the wire
type Wire = any;

beforeEach(async () => {
  [port = 0] = await freePorts(2);
  url = `http://127.0.0.1:${port}/mcp`;
  dataFolder = mkdtempSync(join(tmpdir(), "agent-test-"));
  manager = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const accepted = { status: "ACCEPTED", player_id: "P01", auth_token: TOKEN, league_ids: ["rps"] };
    const reply = newEnvelope("PLAYER_REGISTER_RESPONSE", "league_manager:LM01", accepted);
    const result = textResult(reply);
    response.end(JSON.stringify(rpcResponse(JSON.parse(text).id, result)));
  });
  await new Promise<void>((resolve) => manager.listen(port + 1, "127.0.0.1", resolve));
  const quiet = silentProcess("player");
  const base = { bot: "manual", name: "Person", host: "127.0.0.1", dataFolder };
  player = await startPlayer({ ...base, ports: [port], manager: `http://127.0.0.1:${port + 1}/mcp` }, quiet);
  await vi.waitFor(async () => expect((await fetch(url.replace("/mcp", "/ready"))).status).toBe(200), WAIT_OPTIONS);
});
afterEach(async () => {
  await player.stop();
  manager.close().closeAllConnections();
  rmSync(dataFolder, { recursive: true, force: true });
});

async function tool(name: string, args: object): Promise<Wire> {
  const body = JSON.stringify(rpcToolCall(name, args));
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { result, error } = (await response.json()) as Wire;
  return error ?? { isError: result.isError ?? false, ...JSON.parse(result.content[0].text) };
}
const message = (type: MessageType, payload: object, authToken: string | undefined = signature): Promise<Wire> =>
  tool("league_message", newEnvelope(type, "referee:REF01", payload, { authToken }));

const match = { league_id: "rps", match_id: "R1M1" };
const invite = (more: object = {}) => ({
  ...match,
  round_id: 1,
  epoch: 1,
  game: "rps.v1",
  options: { best_of: 3 },
  your_role: "player_1",
  roles: { player_1: "P01", player_2: "P02" },
  seed_commitment: sha256Hex("s"),
  bot_seed: "seed",
  ...more,
});
/** A request as a referee sends it: the remaining time is not a whole number of milliseconds. */
const moveRequest = (tick: number) => ({
  ...match,
  epoch: 1,
  tick,
  your_role: "player_1",
  game_state: { phase: "choosing" },
  legal_actions: ["rock", "paper", "scissors"],
  time_limit_seconds: 59.9876543,
  deadline: new Date(Date.now() + 59_987).toISOString(),
});
/** Repeats a call of make_move until a request is open. Returns the answer. */
const makeMove = (send: () => Promise<Wire>): Promise<Wire> =>
  vi.waitFor(async () => {
    const sent = await send();
    expect(sent.isError).toBe(false);
    return sent;
  }, WAIT_OPTIONS);

describe("make_move and get_my_state", () => {
  it("play a whole match with plain arguments and with envelopes", async () => {
    expect(await tool("make_move", { move: "rock" })).toMatchObject({ isError: true, error_code: "G004" });
    expect(await message("GAME_INVITE", invite())).toMatchObject({
      type: "GAME_INVITE_RESPONSE",
      sender: "player:P01",
      payload: { match_id: "R1M1", accept: true },
    });
    const first = message("MOVE_REQUEST", moveRequest(0));
    expect(await makeMove(() => tool("make_move", { move: "rock" }))).toMatchObject({
      status: "SENT",
      move: "rock",
      tick: 0,
    });
    expect(await first).toMatchObject({ type: "MOVE_RESPONSE", payload: { match_id: "R1M1", tick: 0, move: "rock" } });

    const second = message("MOVE_REQUEST", moveRequest(2));
    const sent = await makeMove(() => tool("make_move", newEnvelope("MAKE_MOVE", "player:me", { move: "paper" })));
    expect(sent).toMatchObject({ type: "MAKE_MOVE_RESPONSE", payload: { status: "SENT", move: "paper" } });
    expect(await second).toMatchObject({ payload: { tick: 2, move: "paper" } });

    const playing = { league_id: "rps", match_id: "R1M1", your_role: "player_1" };
    const mine = { ...playing, actions: ["rock", "paper"] };
    expect(await tool("get_my_state", { auth_token: TOKEN })).toMatchObject({ matches_begun: 1, playing: [mine] });
    const seen = await tool("get_my_state", {});
    expect(seen).toMatchObject({
      player_id: "P01",
      name: "Person",
      state: "ACTIVE",
      points: 0,
      bot: "manual",
      matches_begun: 1,
      playing: [playing],
    });
    // The actions may include the choice of an open turn.
    expect(JSON.stringify(seen)).not.toMatch(/rock|paper/);
    const result = {
      ...match,
      epoch: 1,
      winner: "P01",
      final_scores: { P01: 2, P02: 0 },
      match_points: { P01: 3, P02: 0 },
      termination: "normal",
      reason: "won",
      seed: "s",
      log_head: "h",
    };
    await message("GAME_RESULT", result);
    const request = newEnvelope("GET_MY_STATE", "player:me", {});
    expect(await tool("get_my_state", request)).toMatchObject({
      type: "GET_MY_STATE_RESPONSE",
      correlation_id: request.message_id,
      payload: { matches_won: 1, points: 3, playing: [], last_result: { winner: "P01" } },
    });
  });

  it("identify the match by league_id/match_id, or by match_id if only one league has such a match", async () => {
    const chess = { league_id: "chess", match_id: "R1M1" };
    const signed = signFor(sha256Hex(TOKEN), "chess/R1M1");
    await message("GAME_INVITE", invite());
    await message("GAME_INVITE", invite({ ...chess, game: "kuhn_poker.v1", options: {} }), signed);
    const answers = [message("MOVE_REQUEST", moveRequest(0))];
    answers.push(message("MOVE_REQUEST", { ...moveRequest(0), ...chess, legal_actions: ["check", "bet"] }, signed));
    await vi.waitFor(async () => expect((await tool("get_my_state", {})).asked).toHaveLength(2), WAIT_OPTIONS);
    const bare = await tool("make_move", { move: "rock", match_id: "R1M1" });
    expect(bare).toMatchObject({ isError: true, message: "match_id is ambiguous; give one of: rps/R1M1, chess/R1M1" });
    const none = await tool("make_move", { move: "rock", match_id: "go/R1M1" });
    expect(none).toMatchObject({ isError: true, error_code: "G004" });
    expect(none.message).toContain("open requests: rps/R1M1, chess/R1M1");
    expect(await tool("make_move", { move: "bet", match_id: "chess/R1M1" })).toMatchObject({
      status: "SENT",
      move: "bet",
    });
    expect(await tool("make_move", { move: "rock", match_id: "R1M1" })).toMatchObject({ status: "SENT", move: "rock" });
    expect((await Promise.all(answers)).map(({ payload }) => payload.move)).toEqual(["rock", "bet"]);
  });

  it("answer a repeated request with the same move", async () => {
    await message("GAME_INVITE", invite());
    const first = message("MOVE_REQUEST", moveRequest(0));
    await makeMove(() => tool("make_move", { move: "scissors" }));
    expect((await first).payload.move).toBe("scissors");
    expect((await message("MOVE_REQUEST", moveRequest(0))).payload).toMatchObject({ tick: 0, move: "scissors" });
  });

  it("reject arguments without a move of even/odd: -32602", async () => {
    for (const args of [{}, { number: 9 }, { number: "three" }]) {
      expect(await tool("make_move", args)).toMatchObject({ code: -32602 });
    }
  });
});

describe("the check of signatures", () => {
  const other = signFor(sha256Hex(TOKEN), "rps/R1M2");
  it.each([
    ["no signature", ""],
    ["a wrong signature", "wrong"],
    ["the token itself", TOKEN],
    ["that of another match", other],
    ["that of the league", signFor(sha256Hex(TOKEN), "rps")],
    ["a signature with the token as key", signFor(TOKEN, "rps/R1M1")],
  ])("rejects messages that carry %s: L004", async (_, authToken) => {
    const rejected = await message("GAME_INVITE", invite(), authToken);
    expect(rejected).toMatchObject({ isError: true, type: "LEAGUE_ERROR", payload: { error_code: "L004" } });
    expect(await message("MOVE_REQUEST", moveRequest(0), authToken)).toMatchObject({ payload: { error_code: "L004" } });
    expect(await tool("get_my_state", {})).toMatchObject({ matches_begun: 0, playing: [] });
  });

  it("accepts, for a player without a token, only messages with the token of the invitation", async () => {
    await player.stop();
    const quiet = silentProcess("player");
    const base = { bot: "random", name: "Far", host: "127.0.0.1", dataFolder };
    player = await startPlayer({ ...base, ports: [port], manager: null }, quiet);
    expect((await message("GAME_INVITE", invite(), "its match token")).payload).toMatchObject({ accept: true });
    const foreign = await message("MOVE_REQUEST", moveRequest(0), "another token");
    expect(foreign).toMatchObject({ isError: true, payload: { error_code: "G003" } });
    expect(JSON.stringify(foreign)).not.toMatch(/rock|paper|scissors/);
    expect(await message("GAME_INVITE", invite({ epoch: 9 }), "")).toMatchObject({ payload: { error_code: "L004" } });
    const move = await message("MOVE_REQUEST", moveRequest(0), "its match token");
    expect(move).toMatchObject({ type: "MOVE_RESPONSE", payload: { tick: 0 } });
    expect(JSON.stringify(await tool("get_my_state", {}))).not.toContain(move.payload.move);
  });

  it("rejects a move request for a match without an invitation: G003", async () => {
    const rejected = await message("MOVE_REQUEST", moveRequest(0));
    expect(rejected).toMatchObject({ isError: true, type: "GAME_ERROR", payload: { error_code: "G003" } });
  });
});
