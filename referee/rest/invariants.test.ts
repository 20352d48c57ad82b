/**
 * The invariants of the session host about who may act and when, for chess and rock-paper-scissors. Invariants 7 and 8, about the store,
 * are in invariants-store.test.ts.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import * as documents from "./openapi.ts";
import { startTestHost, type TestAgent, type TestHost } from "./testing/host.ts";
import { type Observer, observe } from "./testing/observer.ts";
import { expectRejection, sessionClient } from "./testing/rest.ts";

let host: TestHost;
let observer: Observer;
let client: ReturnType<typeof sessionClient>;
/** Plays white and player_1. */
let one: TestAgent;
/** Plays black and player_2. */
let two: TestAgent;
let outsider: TestAgent;
/** New sessions for each test. */
let chess: string;
let rps: string;

beforeAll(async () => {
  host = await startTestHost();
  observer = observe(host);
  client = sessionClient(host);
  [one, two, outsider] = await Promise.all([host.agent(), host.agent(), host.agent()]);
});
afterAll(async () => {
  observer.close();
  await host.remove();
});
beforeEach(async () => {
  chess = await host.session("chess.v1", { white: one, black: two });
  rps = await host.session("rps.v1", { player_1: one, player_2: two });
});

const act = (...args: Parameters<typeof client.act>) => client.act(...args);
const state = (id: string, agent = one) => client.state(id, agent);
const log = (id: string, agent = one) => client.log(id, agent);
const play = (id: string, moves: readonly string[]) => client.play(id, [one, two], moves);
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** All requests for a session that need a token. */
const requests = (id: string): readonly (readonly [string, string, object?])[] => [
  ["GET", `/sessions/${id}/state`],
  ["GET", `/sessions/${id}/state?wait_after_tick=0&timeout_s=0`],
  ["GET", `/sessions/${id}/log`],
  ["GET", `/sessions/${id}/events`],
  ["POST", `/sessions/${id}/actions`, { action: id === chess ? "e2e4" : "rock", expected_tick: 0 }],
];

describe("1. No action without auth", () => {
  /** Invalid values of the header Authorization. */
  const wrong: readonly (readonly [string, () => string | undefined])[] = [
    ["no header", () => undefined],
    ["an empty header", () => ""],
    ["a scheme without a token", () => "Bearer"],
    ["an empty token", () => "Bearer "],
    ["a token without a scheme", () => one.token],
    ["another scheme", () => `Basic ${one.token}`],
    ["Basic with a password", () => `Basic ${btoa(`${one.agent_id}:${one.token}`)}`],
    ["two schemes", () => `Bearer Bearer ${one.token}`],
    ["two tokens", () => `Bearer ${one.token} ${two.token}`],
    ["two tokens with a comma", () => `Bearer ${one.token},${two.token}`],
    ["a token with another character", () => `Bearer ${one.token}x`],
    ["a token cut short", () => `Bearer ${one.token.slice(0, -1)}`],
    ["a token in the wrong case", () => `Bearer ${one.token.toUpperCase()}`],
    ["an agent's id", () => `Bearer ${one.agent_id}`],
    ["the stored hash of a token", () => `Bearer ${sha256Hex(one.token)}`],
    ["a token of another host", () => `Bearer ${foreign.token}`],
    ["a token of a deleted host", () => `Bearer ${deletedHostAgent.token}`],
  ];
  let other: TestHost;
  let foreign: TestAgent;
  let deletedHostAgent: TestAgent;
  beforeAll(async () => {
    const deleted = await startTestHost();
    deletedHostAgent = await deleted.agent();
    await deleted.remove();
    other = await startTestHost();
    foreign = await other.agent();
  });
  afterAll(() => other.remove());

  it.each(wrong)("%s is UNAUTHORIZED", async (_, header) => {
    const before = observer.dump();
    const authorization = header();
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const participants = { white: one.agent_id, black: two.agent_id };
    const both = [...requests(chess), ...requests(rps), ...requests("nowhere")];
    const sessions = [
      ["GET", "/sessions"] as const,
      ["POST", "/sessions", { template: "chess.v1", participants }] as const,
    ];
    for (const [method, path, body] of [...both, ...sessions]) {
      const answer = await host.call(method, `${path}`, { headers, body });
      expectRejection(answer, 401, "UNAUTHORIZED");
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    }
    expect(observer.dump()).toBe(before);
  });

  it("a token in the query or the body is not accepted", async () => {
    const query = `token=${one.token}&access_token=${one.token}`;
    expectRejection(await host.call("GET", `/sessions/${chess}/state?${query}`), 401, "UNAUTHORIZED");
    const body = { action: "e2e4", expected_tick: 0, token: one.token };
    expectRejection(await host.call("POST", `/sessions/${chess}/actions`, { body }), 401, "UNAUTHORIZED");
  });

  it("health and registration need no token", async () => {
    expect(documents.Health.parse((await host.call("GET", "/health")).json)).toEqual({ status: "ok" });
    const answer = await host.call("POST", "/agents");
    expect(answer.status).toBe(201);
    documents.RegisteredAgent.parse(answer.json);
  });
});

describe("2. No action by non-participant", () => {
  it("requests for sessions of other agents are FORBIDDEN, whatever their other faults", async () => {
    const before = observer.dump();
    for (const [method, path, body] of [...requests(chess), ...requests(rps)]) {
      expectRejection(await host.call(method, path, { token: outsider.token, body }), 403, "FORBIDDEN");
    }
    for (const body of ["", "no JSON", "{}", '{"action":"zz","expected_tick":9}']) {
      const request = { token: outsider.token, body };
      expectRejection(await host.call("POST", `/sessions/${chess}/actions`, request), 403, "FORBIDDEN");
    }
    expect(observer.dump()).toBe(before);
  });

  it("listing or creating sessions of other agents is FORBIDDEN, and an unknown session is NOT_FOUND", async () => {
    const { token } = outsider;
    expectRejection(await host.call("GET", `/sessions?agent_id=${one.agent_id}`, { token }), 403, "FORBIDDEN");
    expect((await host.call("GET", "/sessions", { token })).json).toEqual({ sessions: [] });
    const participants = { player_1: one.agent_id, player_2: two.agent_id };
    const request = { token, body: { template: "rps.v1", participants } };
    expectRejection(await host.call("POST", "/sessions", request), 403, "FORBIDDEN");
    for (const [method, path, body] of requests("nowhere")) {
      expectRejection(await host.call(method, path, { token, body }), 404, "NOT_FOUND");
    }
  });

  it("a token acts for its own agent only", async () => {
    expectRejection(await act(chess, two, "e2e4", 0), 400, "INVALID_ACTION");
    for (const claim of [{ role: "white" }, { agent_id: one.agent_id }]) {
      const request = { token: two.token, body: { action: "e2e4", expected_tick: 0, ...claim } };
      expectRejection(await host.call("POST", `/sessions/${chess}/actions`, request), 400, "INVALID_REQUEST");
    }
    await act(rps, two, "rock");
    expect(await log(rps, two)).toMatchObject([{ role: "player_2", agent_id: two.agent_id }]);
  });

  it("spectators may read and not act", async () => {
    const seats = { player_1: one, player_2: two };
    const shown = await host.session("rps.v1", seats, { spectators: "public" });
    expect(await state(shown, outsider)).toMatchObject({ your_role: "spectator", legal_actions: [] });
    expectRejection(await act(shown, outsider, "rock"), 403, "FORBIDDEN");
  });
});

describe("3. No illegal action", () => {
  const any = [
    null,
    true,
    false,
    0,
    1,
    -1,
    1.5,
    1e300,
    "",
    " ",
    "x".repeat(1_000),
    "__proto__",
    [],
    [[]],
    {},
    { a: {} },
  ];
  const noMoves = [
    "e2e5",
    "e7e5",
    "e2e4q",
    "E2E4",
    "e2-e4",
    "e2e4 ",
    "e4",
    "O-O",
    "0000",
    "--",
    ["e2e4"],
    { uci: "e2e4" },
  ];
  const noChoices = ["Rock", "ROCK", "rock ", "r", "lizard", "0", ["rock"], { choice: "rock" }, { rock: true }];

  it.each([...any, ...noMoves])("chess: %j is INVALID_ACTION", async (action) => {
    expectRejection(await act(chess, one, action, 0), 400, "INVALID_ACTION");
    expect(await state(chess)).toMatchObject({ tick: 0, status: "active", state: { fen: START } });
    expect(await log(chess)).toEqual([]);
  });

  it.each([...any, ...noChoices])("rps: %j is INVALID_ACTION", async (action) => {
    expectRejection(await act(rps, one, action), 400, "INVALID_ACTION");
    expect(await state(rps)).toMatchObject({ tick: 0, state: { choices: { player_1: null, player_2: null } } });
    expect(await log(rps)).toEqual([]);
  });

  it("each of legal_actions is accepted", async () => {
    const { legal_actions } = await state(chess);
    expect(legal_actions).toHaveLength(20);
    for (const action of legal_actions) {
      const id = await host.session("chess.v1", { white: one, black: two });
      expect((await act(id, one, action, 0)).status).toBe(200);
    }
  });
});

describe("4. No out-of-turn action", () => {
  it("chess: only the role of `turn` may act", async () => {
    expect((await state(chess, two)).legal_actions).toEqual([]);
    expectRejection(await act(chess, two, "e7e5", 0), 400, "INVALID_ACTION");
    await play(chess, ["e2e4"]);
    expect((await state(chess, one)).legal_actions).toEqual([]);
    expectRejection(await act(chess, one, "d2d4", 1), 400, "INVALID_ACTION");
    expect(await log(chess)).toMatchObject([{ tick: 0, role: "white", action: "e2e4" }]);
  });

  it("rps: the order does not matter", async () => {
    for (const [first, second] of [
      [one, two],
      [two, one],
    ] as const) {
      const id = await host.session("rps.v1", { player_1: one, player_2: two });
      expect([(await act(id, first, "rock")).status, (await act(id, second, "rock")).status]).toEqual([200, 200]);
      expect((await state(id)).state).toMatchObject({ result: "draw" });
    }
  });
});

describe("5. No double action", () => {
  it("chess: an earlier or later tick is CONFLICT, even with an illegal move", async () => {
    await play(chess, ["e2e4"]);
    for (const action of ["e2e4", "d2d4", "zz"]) expectRejection(await act(chess, one, action, 0), 409, "CONFLICT");
    expectRejection(await act(chess, two, "e7e5", 2), 409, "CONFLICT");
    expectRejection(await act(chess, two, "e7e5"), 400, "INVALID_REQUEST");
    expect((await state(chess)).tick).toBe(1);
  });

  it("rps: a second choice is ALREADY_ACTED, whatever its tick", async () => {
    await act(rps, one, "rock");
    for (const [action, tick] of [["rock"], ["paper"], ["zz"], ["rock", 0], ["paper", 1], ["paper", 9]] as const) {
      expectRejection(await act(rps, one, action, tick), 400, "ALREADY_ACTED");
    }
    expect((await state(rps)).state).toMatchObject({ choices: { player_1: "rock", player_2: null } });
    expect((await act(rps, two, "paper", 9)).json.tick).toBe(2);
  });
});

describe("6. No action after terminal", () => {
  it("chess: an action after checkmate is INVALID_ACTION", async () => {
    await play(chess, ["f2f3", "e7e5", "g2g4", "d8h4"]);
    const over = { status: "completed", tick: 4, state: { outcome: { winner: "black", reason: "checkmate" } } };
    for (const agent of [one, two]) {
      expect(await state(chess, agent)).toMatchObject({ ...over, legal_actions: [] });
      for (const tick of [0, 3, 4, 5]) expectRejection(await act(chess, agent, "e2e4", tick), 400, "INVALID_ACTION");
    }
    expect(await log(chess)).toHaveLength(4);
  });

  it("rps: an action after the result is INVALID_ACTION", async () => {
    await act(rps, two, "paper");
    await act(rps, one, "rock");
    for (const agent of [one, two]) {
      expect(await state(rps, agent)).toMatchObject({ status: "completed", tick: 2, legal_actions: [] });
      for (const tick of [undefined, 0, 2, 3])
        expectRejection(await act(rps, agent, "rock", tick), 400, "INVALID_ACTION");
    }
    expect(await log(rps)).toHaveLength(2);
  });
});
