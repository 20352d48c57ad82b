import { expect, it, onTestFinished, vi } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { Envelope, MessageType } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import { startTestManager, type Wire } from "../testing/test-manager.ts";

const MATCH = { league_id: "ttt", match_id: "R1M1", epoch: 1 };
const INVITATION = {
  ...MATCH,
  round_id: 1,
  game: "tic_tac_toe.v1",
  options: {},
  your_role: "x",
  roles: { x: "P01", o: "P02" },
  seed_commitment: sha256Hex("seed"),
  bot_seed: "b",
};
const request = (board: readonly string[] = ["...", "...", "..."], more: object = {}) => ({
  ...MATCH,
  tick: 0,
  your_role: "x",
  game_state: { board, turn: "x", outcome: null },
  time_limit_seconds: 30,
  deadline: "2026-01-01T00:00:00.000Z",
  ...more,
});
const RESULT = {
  ...MATCH,
  winner: "P01",
  final_scores: { P01: 1, P02: 0 },
  match_points: { P01: 3, P02: 0 },
  termination: "normal",
  reason: "three_in_a_row",
  seed: "seed",
  log_head: "",
};

/** Starts a manager with the hosted player P01, Ann. */
async function startHosted() {
  const manager = await startTestManager([{ league_id: "ttt", game: "tic_tac_toe.v1" }]);
  onTestFinished(() => manager.stop());
  const ask = async (type: MessageType, payload: object, bearer?: string): Promise<Wire> =>
    manager.message(type, "player:Ann", payload, bearer);
  const { payload: joined } = await ask("JOIN_LEAGUE", { player_name: "Ann" });
  const token = String(joined.player_token);
  /** Sends a message of a referee to P01. Resolves with the envelope of the answer. */
  const send = async (type: MessageType, payload: object, signal?: AbortSignal): Promise<Envelope> => {
    const authToken = signFor(sha256Hex(token), "ttt/R1M1");
    const envelope = newEnvelope(type, "referee:REF01", payload, { authToken });
    const response = await fetch(`http://127.0.0.1:${manager.port}/inbox/P01/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(rpcToolCall("league_message", envelope)),
      ...(signal && { signal }),
    });
    const { result } = (await response.json()) as Wire;
    return JSON.parse(result.content[0].text);
  };
  return {
    manager,
    joined,
    token,
    send,
    ask,
    /** Calls a tool as the player. Resolves with its result, or its error. */
    as: async (type: MessageType, payload: object = {}) =>
      (await ask(type, { ...payload, player_token: token })).payload,
  };
}

it("a player that joins is registered, and its inbox cannot be polled by others", async () => {
  const { manager, joined, token } = await startHosted();
  expect(joined).toMatchObject({ player_id: "P01", name: "Ann", next: "waiting", leagues: [{ league_id: "ttt" }] });
  expect(manager.storedEndpoints()).toEqual({ P01: "inbox://P01/hosted" });
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const polled = await fetch(`http://127.0.0.1:${manager.port}/inbox/P01`, { method: "POST", headers, body: "[]" });
  expect(polled.status).toBe(409);
  expect(((await polled.json()) as Wire).error.message).toMatch(/^P01 plays by the tools or the page/);
});

it("the manager answers invitations and notifications, and a request for a move waits for make_move", async () => {
  const { send, as } = await startHosted();
  expect(await send("GAME_INVITE", INVITATION)).toMatchObject({
    type: "GAME_INVITE_RESPONSE",
    sender: "player:P01",
    payload: { match_id: "R1M1", accept: true },
  });
  expect((await send("GAME_START", { ...MATCH, game_config: {}, players: [] })).type).toBe("ACK");
  const moved = send("MOVE_REQUEST", request());
  const turn = await as("WAIT_FOR_TURN");
  expect(turn).toMatchObject({ next: "your_turn", timed_out: false });
  expect(turn.turns[0]).toMatchObject({ match_id: "R1M1", game: { your_role: "x", to_act: ["x"] } });
  expect(turn.turns[0].seconds_left).toBeGreaterThan(20);
  expect(await as("MAKE_MOVE", { move: "b2" })).toMatchObject({ next: "waiting", turns: [] });
  expect(await moved).toMatchObject({ type: "MOVE_RESPONSE", payload: { match_id: "R1M1", tick: 0, move: "b2" } });
});

it("a player sees the clocks of its match, and the time of its turn is the time of its request", async () => {
  const { send, as, manager, token } = await startHosted();
  const clock = { initial_ms: 60_000, increment_ms: 0, remaining_ms: { x: 9_540, o: 58_000 } };
  expect((await send("GAME_INVITE", { ...INVITATION, clock: { initial_ms: 60_000, increment_ms: 0 } })).type).toBe(
    "GAME_INVITE_RESPONSE",
  );
  const moved = send("MOVE_REQUEST", request(undefined, { clock, time_limit_seconds: 9.54 }));
  const turn = await as("WAIT_FOR_TURN");
  const { elapsed_ms, ...clocks } = turn.turns[0].game.clock;
  expect(clocks).toEqual(clock);
  expect(elapsed_ms).toBeGreaterThanOrEqual(0);
  expect(turn.turns[0].seconds_left).toBeLessThanOrEqual(9.54);
  const { body } = await manager.post(JSON.stringify(rpcToolCall("wait_for_turn", { player_token: token })));
  expect(body.result.content[0].text).toContain("seconds are left for this move. Clocks: x 0:09.5, o 0:58.");
  await as("MAKE_MOVE", { move: "b2" });
  await moved;
});

it("a request that is repeated after a broken connection gets the same move again", async () => {
  const { send, as } = await startHosted();
  await send("GAME_INVITE", INVITATION);
  const moved = send("MOVE_REQUEST", request());
  await as("WAIT_FOR_TURN");
  await as("MAKE_MOVE", { move: "b2" });
  await moved;
  expect((await send("MOVE_REQUEST", request())).payload.move).toBe("b2");
  const rejected = send("MOVE_REQUEST", request(undefined, { error: { message: "no" } }));
  expect((await as("WAIT_FOR_TURN")).turns[0].rejected).toBe("no");
  await as("MAKE_MOVE", { move: "a1" });
  expect((await rejected).payload.move).toBe("a1");
});

it("an illegal move is rejected with the legal moves, and the request stays open", async () => {
  const { send, as } = await startHosted();
  await send("GAME_INVITE", INVITATION);
  void send("MOVE_REQUEST", request(["xo.", "...", "..."])).catch(() => {});
  await as("WAIT_FOR_TURN");
  const rejected = await as("MAKE_MOVE", { move: "a3" });
  expect(rejected).toMatchObject({ error_code: "G001", message: expect.stringMatching(/^Illegal move a3.*: c3, a2/) });
  expect((await as("WAIT_FOR_TURN", { timeout_s: 0 })).next).toBe("your_turn");
  expect(await as("MAKE_MOVE", { move: "a1", match_id: "R9M9" })).toMatchObject({ error_code: "G004" });
});

it("a request for a move in an unknown match is answered with G003, so that the referee invites the player again", async () => {
  const { send } = await startHosted();
  expect((await send("MOVE_REQUEST", request())).payload.error_code).toBe("G003");
});

it("a turn ends when its referee no longer waits", async () => {
  const { send, as } = await startHosted();
  await send("GAME_INVITE", INVITATION);
  const referee = new AbortController();
  const moved = send("MOVE_REQUEST", request(), referee.signal).catch(() => "gone");
  expect((await as("WAIT_FOR_TURN")).next).toBe("your_turn");
  referee.abort();
  await moved;
  await vi.waitFor(
    async () => expect((await as("WAIT_FOR_TURN", { timeout_s: 0 })).next).toBe("waiting"),
    WAIT_OPTIONS,
  );
  expect(await as("MAKE_MOVE", { move: "a1" })).toMatchObject({ error_code: "G004" });
});

it("a wait ends with a result, which is reported once", async () => {
  const { send, as } = await startHosted();
  await send("GAME_INVITE", INVITATION);
  const waiting = as("WAIT_FOR_TURN");
  expect((await send("GAME_RESULT", RESULT)).type).toBe("ACK");
  const ended = await waiting;
  expect(ended.results[0].game).toMatchObject({
    status: "completed",
    result: { winners: ["x"], reason: "three_in_a_row" },
  });
  expect(await as("WAIT_FOR_TURN", { timeout_s: 0.01 })).toMatchObject({ results: [], timed_out: true });
});

it("the tools accept null and empty texts for optional arguments, and numbers as texts", async () => {
  const { manager } = await startHosted();
  const call = async (name: string, args: object): Promise<Wire> => {
    const response = await fetch(`http://127.0.0.1:${manager.port}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(rpcToolCall(name, args)),
    });
    const { result } = (await response.json()) as Wire;
    expect(result.isError, result.content[0].text).toBeUndefined();
    return result.structuredContent;
  };
  const other = await call("join_league", { player_name: "Bob", league_id: "", join_code: null, player_token: "" });
  expect(other.player_id).toBe("P02");
  const { player_token } = other;
  expect(await call("wait_for_turn", { player_token, timeout_s: "0" })).toMatchObject({ timed_out: true });
  expect(await call("get_schedule", { league_id: "ttt", round_id: null })).toMatchObject({ schedule: [] });
  expect(await call("leave_league", { player_token })).toMatchObject({ status: "LEFT" });
});

it("calls without the token of a hosted player are rejected", async () => {
  const { ask, manager } = await startHosted();
  await manager.register("P02");
  for (const player_token of [undefined, "wrong", manager.tokens.P02]) {
    for (const type of ["WAIT_FOR_TURN", "MAKE_MOVE", "LEAVE_LEAGUE"] as const) {
      const answer = await ask(type, { move: "a1", timeout_s: 0, player_token });
      expect(answer.payload, type).toMatchObject({ error_code: "L004" });
    }
  }
});

it("a person with a wrong join code learns in the browser whom to ask, and a program which option to pass", async () => {
  const leagues = [{ league_id: "ttt", game: "tic_tac_toe.v1" }];
  const manager = await startTestManager(leagues, { manager: { join_code: "oak" } });
  onTestFinished(() => manager.stop());
  const response = await fetch(`http://127.0.0.1:${manager.port}/play/api/join`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Ann", league_id: "ttt", join_code: "aok" }),
  });
  expect(response.status).toBe(400);
  const message = "This join code is wrong. Ask the person who runs the league for it.";
  expect(await response.json()).toEqual({ error: { code: "L001", message } });
  const { payload } = await manager.message("JOIN_LEAGUE", "player:Ann", { player_name: "Ann", join_code: "aok" });
  expect(payload.message).toContain("pass --join-code WORD");
});

it("a second join needs the token to continue as the same player", async () => {
  const { ask, token } = await startHosted();
  expect((await ask("JOIN_LEAGUE", { player_name: "Ann" })).payload.error_code).toBe("L003");
  const again = (await ask("JOIN_LEAGUE", { player_name: "Ann", player_token: token })).payload;
  expect(again).toMatchObject({ player_id: "P01", player_token: token });
  expect((await ask("JOIN_LEAGUE", { player_name: "Bob", league_id: "none" })).payload.error_code).toBe("L005");
});

it("a player that leaves an open league is no longer registered", async () => {
  const { as, manager } = await startHosted();
  expect(await as("LEAVE_LEAGUE")).toEqual({ status: "LEFT", player_id: "P01" });
  expect((await manager.leagues())[0].players).toBe(0);
  expect(await as("WAIT_FOR_TURN", { timeout_s: 0 })).toMatchObject({ error_code: "L004" });
});

it("a player that leaves a running league answers its open turn, so that its opponent does not wait", async () => {
  const { as, send, manager } = await startHosted();
  await manager.register("REF01", "P02");
  await manager.tool("start_league", { league_id: "ttt" }, manager.operator);
  await send("GAME_INVITE", INVITATION);
  const moved = send("MOVE_REQUEST", request());
  expect((await as("WAIT_FOR_TURN")).next).toBe("your_turn");
  await as("LEAVE_LEAGUE");
  expect(await moved).toMatchObject({ type: "GAME_ERROR", payload: { message: "the player has left the league" } });
});

it("the page shows a match from its invitation on, with the opening that the invitation determines", async () => {
  const { send, manager, token } = await startHosted();
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const shown = async (): Promise<Wire> => {
    const init = { method: "POST", headers, body: "{}" };
    const response = await fetch(`http://127.0.0.1:${manager.port}/play/api/state`, init);
    return ((await response.json()) as Wire).matches[0].game;
  };
  await send("GAME_INVITE", { ...INVITATION, your_role: "o", roles: { x: "P02", o: "P01" } });
  const opening = { state: { board: ["...", "...", "..."] }, to_act: ["x"], legal_actions: [] };
  expect(await shown()).toMatchObject({ status: "waiting_for_players", ...opening });
  await send("GAME_START", { ...MATCH, game_config: {}, players: [] });
  expect(await shown()).toMatchObject({ status: "active", ...opening });
  const poker = { game: "kuhn_poker.v1", your_role: "player_2", roles: { player_1: "P02", player_2: "P01" } };
  await send("GAME_INVITE", { ...INVITATION, ...poker, epoch: 2 });
  expect(await shown()).toMatchObject({ name: "Kuhn poker", state: null, board: "" });
  const chess = { game: "chess.v1", your_role: "black", roles: { white: "P02", black: "P01" } };
  await send("GAME_INVITE", { ...INVITATION, ...chess, epoch: 3 });
  // A page needs no list of the moves, which grows with the game.
  expect(Object.keys((await shown()).state)).toEqual(["fen", "turn", "outcome"]);
});

it("a player that leaves a running league declines its invitations", async () => {
  const { as, send, manager } = await startHosted();
  await manager.register("REF01", "P02");
  const started = await manager.tool("start_league", { league_id: "ttt" }, manager.operator);
  expect(started).toMatchObject({ status: "STARTED" });
  expect(await as("LEAVE_LEAGUE")).toMatchObject({ status: "LEFT" });
  expect((await send("GAME_INVITE", INVITATION)).payload).toMatchObject({ accept: false });
  expect((await as("WAIT_FOR_TURN", { timeout_s: 0 })).next).toBe("league_over");
});
