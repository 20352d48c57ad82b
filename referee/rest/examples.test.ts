/** Example requests of the API with their complete answers. Each answer is checked against its schema (openapi.ts). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import * as documents from "./openapi.ts";
import { type CallOptions, startTestHost, type TestAgent, type TestHost } from "./testing/host.ts";

let host: TestHost;
let one: TestAgent;
let two: TestAgent;

beforeAll(async () => {
  host = await startTestHost();
  [one, two] = await Promise.all([host.agent(), host.agent()]);
});
afterAll(() => host.remove());

/** Sends a request. Resolves with the answer, which must be JSON of this shape with this status. */
async function ask<T>(shape: z.ZodType<T>, status: number, requestLine: string, options: CallOptions = {}): Promise<T> {
  const [method = "", path = ""] = requestLine.split(" ");
  const answer = await host.call(method, path, options);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([status, "application/json; charset=utf-8"]);
  return shape.parse(answer.json);
}
const errorOf = async (status: number, requestLine: string, options: CallOptions) =>
  (await ask(documents.ErrorBody, status, requestLine, options)).error;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;

describe("the endpoints without a session", () => {
  it("GET /health", async () => {
    expect(await ask(documents.Health, 200, "GET /health")).toEqual({ status: "ok" });
  });

  it("POST /agents gives each agent an id and a random token", async () => {
    const agents = [
      await ask(documents.RegisteredAgent, 201, "POST /agents"),
      await ask(documents.RegisteredAgent, 201, "POST /agents", { body: {} }),
    ];
    for (const { agent_id, token } of agents) {
      expect(agent_id).not.toBe("");
      expect(token.length).toBeGreaterThanOrEqual(32);
    }
    expect(new Set(agents.flatMap(({ agent_id, token }) => [agent_id, token])).size).toBe(4);
  });

  it("an error has a code and a message", async () => {
    const requestLine = "GET /sessions/nowhere/state";
    expect(await errorOf(404, requestLine, { token: one.token })).toEqual({
      code: "NOT_FOUND",
      message: expect.any(String),
    });
    expect(await errorOf(401, requestLine, {})).toEqual({ code: "UNAUTHORIZED", message: expect.any(String) });
  });
});

describe("chess.v1", () => {
  it("is created, read, played, logged and listed as documented", async () => {
    const [white, black] = [{ token: one.token }, { token: two.token }];
    const participants = { white: one.agent_id, black: two.agent_id };
    const body = { template: "chess.v1", participants };
    const created = await ask(documents.CreatedSession, 201, "POST /sessions", { ...white, body });
    expect(created).toEqual({ session_id: expect.any(String), template: "chess.v1", status: "active" });
    const { session_id } = created;
    const path = `/sessions/${session_id}`;

    const begun = await ask(documents.SessionState, 200, `GET ${path}/state`, white);
    const fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const about = { session_id, template: "chess.v1", status: "active" };
    expect(begun).toEqual({
      ...about,
      tick: 0,
      state: { fen, turn: "white", outcome: null, moves: [] },
      your_role: "white",
      legal_actions: expect.arrayContaining(["e2e4", "d2d4"]),
    });
    const waiting = { ...begun, your_role: "black", legal_actions: [] };
    expect(await ask(documents.SessionState, 200, `GET ${path}/state`, black)).toEqual(waiting);

    // expected_tick is required.
    const noTick = { ...white, body: { action: "e2e4" } };
    expect(await errorOf(400, `POST ${path}/actions`, noTick)).toMatchObject({ code: "INVALID_REQUEST" });
    const first = { ...white, body: { action: "e2e4", expected_tick: 0 } };
    const moved = {
      turn: "black",
      outcome: null,
      moves: ["e2e4"],
      fen: expect.stringContaining("/4P3/8/PPPP1PPP/RNBQKBNR b KQkq"),
    };
    const taken = { tick: 1, state: moved, status: "active" };
    expect(await ask(documents.ActionTaken, 200, `POST ${path}/actions`, first)).toEqual(taken);
    const early = { ...white, body: { action: "d2d4", expected_tick: 1 } };
    expect(await errorOf(400, `POST ${path}/actions`, early)).toEqual({
      code: "INVALID_ACTION",
      message: "Not your turn",
    });
    const second = { ...black, body: { action: "e7e5", expected_tick: 1 } };
    expect(await ask(documents.ActionTaken, 200, `POST ${path}/actions`, second)).toMatchObject({ tick: 2 });

    const time = { created_at: expect.stringMatching(TIME) };
    for (const agent of [white, black]) {
      expect(await ask(documents.SessionLog, 200, `GET ${path}/log`, agent)).toEqual({
        actions: [
          { tick: 0, role: "white", action: "e2e4", agent_id: one.agent_id, ...time },
          { tick: 1, role: "black", action: "e7e5", agent_id: two.agent_id, ...time },
        ],
      });
    }
    const listed = await ask(documents.SessionList, 200, `GET /sessions?agent_id=${two.agent_id}`, black);
    expect(listed).toEqual({ sessions: [{ ...about, tick: 2, your_role: "black", ...time }] });
  });

  it("supports promotions, and ends by checkmate, stalemate and draw", async () => {
    const play = async (fen: string, action: string): Promise<unknown> => {
      const id = await host.session("chess.v1", { white: one, black: two }, { options: { fen } });
      const options = { token: one.token, body: { action, expected_tick: 0 } };
      const { state, status } = await ask(documents.ActionTaken, 200, `POST /sessions/${id}/actions`, options);
      return { status, outcome: (state as { outcome: unknown }).outcome };
    };
    const over = (winner: string | null, reason: string) => ({ status: "completed", outcome: { winner, reason } });
    expect(await play("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1", "e7e8q")).toEqual({ status: "active", outcome: null });
    expect(await play("7k/8/6K1/8/8/8/8/1Q6 w - - 0 1", "b1b8")).toEqual(over("white", "checkmate"));
    expect(await play("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "f1f7")).toEqual(over(null, "stalemate"));
    expect(await play("7k/8/8/8/8/8/3r4/4K3 w - - 0 1", "e1d2")).toEqual(over(null, "insufficient_material"));
  });
});

describe("rps.v1", () => {
  const RESULTS = [
    ["rock", "scissors", "player_1_wins"],
    ["rock", "paper", "player_2_wins"],
    ["rock", "rock", "draw"],
  ] as const;

  it.each(RESULTS)("%s against %s: ticks 0, 1, 2, phases commit and reveal, %s", async (mine, theirs, result) => {
    const id = await host.session("rps.v1", { player_1: one, player_2: two });
    const [first, second] = [{ token: one.token }, { token: two.token }];
    const state = (agent: CallOptions) => ask(documents.SessionState, 200, `GET /sessions/${id}/state`, agent);
    const log = async (agent: CallOptions) => {
      const { actions } = await ask(documents.SessionLog, 200, `GET /sessions/${id}/log`, agent);
      return actions.map(({ tick, role, action }) => [tick, role, action]);
    };
    const submit = (agent: CallOptions, action: string) =>
      ask(documents.ActionTaken, 200, `POST /sessions/${id}/actions`, { ...agent, body: { action } });
    const about = { session_id: id, template: "rps.v1", status: "active" };
    const commit = (player_1: string | null, player_2: string | null) => {
      return { phase: "commit", choices: { player_1, player_2 }, result: null };
    };
    const all = ["rock", "paper", "scissors"];

    // Tick 0: no player has submitted.
    const begun = { ...about, tick: 0, state: commit(null, null), legal_actions: all };
    expect(await state(first)).toEqual({ ...begun, your_role: "player_1" });
    expect(await state(second)).toEqual({ ...begun, your_role: "player_2" });

    // Tick 1: player_2 has submitted. player_1 sees that, and not the choice.
    const chosen = { tick: 1, state: commit(null, theirs), status: "active" };
    expect(await submit(second, theirs)).toEqual(chosen);
    expect(await state(second)).toEqual({ ...about, ...chosen, your_role: "player_2", legal_actions: [] });
    const open = { tick: 1, state: commit(null, null), your_role: "player_1", legal_actions: all };
    expect(await state(first)).toEqual({ ...about, ...open });
    expect([await log(first), await log(second)]).toEqual([[], [[0, "player_2", theirs]]]);
    const again = { ...second, body: { action: "rock" } };
    expect(await errorOf(400, `POST /sessions/${id}/actions`, again)).toMatchObject({ code: "ALREADY_ACTED" });

    // Tick 2: both players have submitted, and the result is known.
    const reveal = { phase: "reveal", choices: { player_1: mine, player_2: theirs }, result };
    const revealed = { tick: 2, state: reveal, status: "completed" };
    expect(await submit(first, mine)).toEqual(revealed);
    for (const [agent, your_role] of [[first, "player_1"] as const, [second, "player_2"] as const]) {
      expect(await state(agent)).toEqual({ ...about, ...revealed, your_role, legal_actions: [] });
      const both = [
        [0, "player_2", theirs],
        [1, "player_1", mine],
      ];
      expect(await log(agent)).toEqual(both);
    }
  });
});
