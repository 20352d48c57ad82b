/**
 * The invariants of the session host, for chess and for rock, paper, scissors: which role may act, and when. Invariants 7 and 8, about
 * what is stored, are in invariants-store.test.ts.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import * as documents from "./documents.ts";
import { startTestHost, type TestAgent, type TestHost } from "./testing/host.ts";
import { type Observer, observe, refused, tableOf } from "./testing/rest.ts";

let host: TestHost;
let observer: Observer;
let table: ReturnType<typeof tableOf>;
/** White, and player_1. */
let one: TestAgent;
/** Black, and player_2. */
let two: TestAgent;
let stranger: TestAgent;
/** Fresh for each test. */
let chess: string;
let rps: string;

beforeAll(async () => {
  host = await startTestHost();
  observer = observe(host);
  table = tableOf(host);
  [one, two, stranger] = await Promise.all([host.agent(), host.agent(), host.agent()]);
});
afterAll(async () => {
  observer.close();
  await host.remove();
});
beforeEach(async () => {
  chess = await host.session("chess.v1", { white: one, black: two });
  rps = await host.session("rps.v1", { player_1: one, player_2: two });
});

const act = (...asked: Parameters<typeof table.act>) => table.act(...asked);
const state = (id: string, agent = one) => table.state(id, agent);
const log = (id: string, agent = one) => table.log(id, agent);
const play = (id: string, moves: readonly string[]) => table.play(id, [one, two], moves);
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** Every request about a session that needs a token. */
const requests = (id: string): readonly (readonly [string, string, object?])[] => [
  ["GET", `/sessions/${id}/state`],
  ["GET", `/sessions/${id}/state?wait_after_tick=0&timeout_s=0`],
  ["GET", `/sessions/${id}/log`],
  ["GET", `/sessions/${id}/events`],
  ["POST", `/sessions/${id}/actions`, { action: id === chess ? "e2e4" : "rock", expected_tick: 0 }],
];

describe("1. No action without auth", () => {
  /** Values of the header Authorization that are no token of an agent here. */
  const wrong: readonly (readonly [string, () => string | undefined])[] = [
    ["none", () => undefined],
    ["an empty one", () => ""],
    ["a scheme alone", () => "Bearer"],
    ["an empty token", () => "Bearer "],
    ["a token alone", () => one.token],
    ["another scheme", () => `Basic ${one.token}`],
    ["Basic with a password", () => `Basic ${btoa(`${one.agent_id}:${one.token}`)}`],
    ["two schemes", () => `Bearer Bearer ${one.token}`],
    ["two tokens", () => `Bearer ${one.token} ${two.token}`],
    ["two tokens, by commas", () => `Bearer ${one.token},${two.token}`],
    ["a token and more", () => `Bearer ${one.token}x`],
    ["a token cut short", () => `Bearer ${one.token.slice(0, -1)}`],
    ["a token in the wrong case", () => `Bearer ${one.token.toUpperCase()}`],
    ["an agent's id", () => `Bearer ${one.agent_id}`],
    ["what the database keeps of a token", () => `Bearer ${sha256Hex(one.token)}`],
    ["a token of another host", () => `Bearer ${foreign.token}`],
    ["a token of a host that is gone", () => `Bearer ${gone.token}`],
  ];
  let other: TestHost;
  let foreign: TestAgent;
  let gone: TestAgent;
  beforeAll(async () => {
    const deleted = await startTestHost();
    gone = await deleted.agent();
    await deleted.remove();
    other = await startTestHost();
    foreign = await other.agent();
  });
  afterAll(() => other.remove());

  it.each(wrong)("%s", async (_, header) => {
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
      refused(answer, 401, "UNAUTHORIZED");
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    }
    expect(observer.dump()).toBe(before);
  });

  it("a token in the query or the body is none", async () => {
    const query = `token=${one.token}&access_token=${one.token}`;
    refused(await host.call("GET", `/sessions/${chess}/state?${query}`), 401, "UNAUTHORIZED");
    const body = { action: "e2e4", expected_tick: 0, token: one.token };
    refused(await host.call("POST", `/sessions/${chess}/actions`, { body }), 401, "UNAUTHORIZED");
  });

  it("health and registration need none", async () => {
    expect(documents.Health.parse((await host.call("GET", "/health")).json)).toEqual({ status: "ok" });
    const answer = await host.call("POST", "/agents");
    expect(answer.status).toBe(201);
    documents.RegisteredAgent.parse(answer.json);
  });
});

describe("2. No action by non-participant", () => {
  it("every request about a session of others is FORBIDDEN, whatever else is wrong with it", async () => {
    const before = observer.dump();
    for (const [method, path, body] of [...requests(chess), ...requests(rps)]) {
      refused(await host.call(method, path, { token: stranger.token, body }), 403, "FORBIDDEN");
    }
    for (const body of ["", "no JSON", "{}", '{"action":"zz","expected_tick":9}']) {
      const asked = { token: stranger.token, body };
      refused(await host.call("POST", `/sessions/${chess}/actions`, asked), 403, "FORBIDDEN");
    }
    expect(observer.dump()).toBe(before);
  });

  it("nor may they list or begin sessions of others, and a session that is not there is NOT_FOUND", async () => {
    const { token } = stranger;
    refused(await host.call("GET", `/sessions?agent_id=${one.agent_id}`, { token }), 403, "FORBIDDEN");
    expect((await host.call("GET", "/sessions", { token })).json).toEqual({ sessions: [] });
    const participants = { player_1: one.agent_id, player_2: two.agent_id };
    const asked = { token, body: { template: "rps.v1", participants } };
    refused(await host.call("POST", "/sessions", asked), 403, "FORBIDDEN");
    for (const [method, path, body] of requests("nowhere")) {
      refused(await host.call(method, path, { token, body }), 404, "NOT_FOUND");
    }
  });

  it("a token acts for its own agent only", async () => {
    refused(await act(chess, two, "e2e4", 0), 400, "INVALID_ACTION");
    for (const claim of [{ role: "white" }, { agent_id: one.agent_id }]) {
      const asked = { token: two.token, body: { action: "e2e4", expected_tick: 0, ...claim } };
      refused(await host.call("POST", `/sessions/${chess}/actions`, asked), 400, "INVALID_REQUEST");
    }
    await act(rps, two, "rock");
    expect(await log(rps, two)).toMatchObject([{ role: "player_2", agent_id: two.agent_id }]);
  });

  it("spectators may look and not act", async () => {
    const seats = { player_1: one, player_2: two };
    const shown = await host.session("rps.v1", seats, { spectators: "public" });
    expect(await state(shown, stranger)).toMatchObject({ your_role: "spectator", legal_actions: [] });
    refused(await act(shown, stranger, "rock"), 403, "FORBIDDEN");
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

  it.each([...any, ...noMoves])("chess: %j", async (action) => {
    refused(await act(chess, one, action, 0), 400, "INVALID_ACTION");
    expect(await state(chess)).toMatchObject({ tick: 0, status: "active", state: { fen: START } });
    expect(await log(chess)).toEqual([]);
  });

  it.each([...any, ...noChoices])("rps: %j", async (action) => {
    refused(await act(rps, one, action), 400, "INVALID_ACTION");
    expect(await state(rps)).toMatchObject({ tick: 0, state: { choices: { player_1: null, player_2: null } } });
    expect(await log(rps)).toEqual([]);
  });

  it("each of legal_actions is taken", async () => {
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
    refused(await act(chess, two, "e7e5", 0), 400, "INVALID_ACTION");
    await play(chess, ["e2e4"]);
    expect((await state(chess, one)).legal_actions).toEqual([]);
    refused(await act(chess, one, "d2d4", 1), 400, "INVALID_ACTION");
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
  it("chess: a stale tick is CONFLICT, also with the same move or an illegal one, and so is one to come", async () => {
    await play(chess, ["e2e4"]);
    for (const action of ["e2e4", "d2d4", "zz"]) refused(await act(chess, one, action, 0), 409, "CONFLICT");
    refused(await act(chess, two, "e7e5", 2), 409, "CONFLICT");
    refused(await act(chess, two, "e7e5"), 400, "INVALID_REQUEST");
    expect((await state(chess)).tick).toBe(1);
  });

  it("rps: who has chosen has chosen, whatever tick is named", async () => {
    await act(rps, one, "rock");
    for (const [action, tick] of [["rock"], ["paper"], ["zz"], ["rock", 0], ["paper", 1], ["paper", 9]] as const) {
      refused(await act(rps, one, action, tick), 400, "ALREADY_ACTED");
    }
    expect((await state(rps)).state).toMatchObject({ choices: { player_1: "rock", player_2: null } });
    expect((await act(rps, two, "paper", 9)).json.tick).toBe(2);
  });
});

describe("6. No action after terminal", () => {
  it("chess: after the fool's mate", async () => {
    await play(chess, ["f2f3", "e7e5", "g2g4", "d8h4"]);
    const over = { status: "completed", tick: 4, state: { outcome: { winner: "black", reason: "checkmate" } } };
    for (const agent of [one, two]) {
      expect(await state(chess, agent)).toMatchObject({ ...over, legal_actions: [] });
      for (const tick of [0, 3, 4, 5]) refused(await act(chess, agent, "e2e4", tick), 400, "INVALID_ACTION");
    }
    expect(await log(chess)).toHaveLength(4);
  });

  it("rps: after the result", async () => {
    await act(rps, two, "paper");
    await act(rps, one, "rock");
    for (const agent of [one, two]) {
      expect(await state(rps, agent)).toMatchObject({ status: "completed", tick: 2, legal_actions: [] });
      for (const tick of [undefined, 0, 2, 3]) refused(await act(rps, agent, "rock", tick), 400, "INVALID_ACTION");
    }
    expect(await log(rps)).toHaveLength(2);
  });
});
