import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import {
  createGame,
  joinGame,
  play,
  remainingEvents,
  type TestSeat,
  tokenOf,
  tool,
  twoSeats,
  watchGame,
} from "./testing/play.ts";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

const code = (answer: { status: number; json: { error?: { code: string } } }) => [
  answer.status,
  answer.json?.error?.code,
];

describe("the pages", () => {
  it("may not load external content and may not be framed", async () => {
    const [one] = await twoSeats(host, "chess");
    for (const path of ["/", `/game/${one.gameId}`]) {
      const { status, headers, text } = await host.get(path);
      expect(status).toBe(200);
      expect(headers.get("content-type")).toMatch(/^text\/html; charset=utf-8/);
      const policy = headers.get("content-security-policy") ?? "";
      for (const rule of ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
        expect(policy.split(";")).toContain(rule);
      }
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("access-control-allow-origin")).toBeNull();
      expect(text).toMatch(/^<!doctype html>/i);
    }
  });

  it("reject requests of another origin", async () => {
    for (const origin of ["https://evil.example", "null"]) {
      const answer = await host.call("POST", "/api/games", { headers: { origin }, body: { template: "chess" } });
      expect(answer.status).toBe(403);
    }
  });

  it.each(["Ann\u202Ebob", "\u200b", "An\u200bn", "A\nnn", "\u2066Ann"])(
    "start no game for a person with the name %j",
    async (name) => {
      expect(code(await host.post("/api/games", { template: "chess", name }))).toEqual([400, "INVALID_REQUEST"]);
    },
  );

  it("answer 404 for unknown games, and for private games without a seat", async () => {
    const [one, two, other] = await Promise.all([host.agent(), host.agent(), host.agent()]);
    const hidden = await host.session("chess.v1", { white: one, black: two });
    const shown = await host.session("chess.v1", { white: one, black: two }, { spectators: "public" });
    for (const id of [hidden, "nowhere", "__proto__", "x".repeat(2_000)]) {
      const page = await host.get(`/game/${id}`, other.token);
      expect([page.status, page.text]).toEqual([404, expect.stringContaining("There is no game at this address")]);
      for (const path of [`/api/games/${id}`, `/api/games/${id}/events`]) {
        expect(code(await host.get(path)), path).toEqual([404, "NOT_FOUND"]);
        expect(code(await host.get(path, other.token))).toEqual([404, "NOT_FOUND"]);
      }
      expect(code(await host.post(`/api/games/${id}/moves`, { move: "e4" }, other.token))).toEqual([404, "NOT_FOUND"]);
    }
    for (const name of ["waitForNextTurn", "finishTurn"]) {
      const answer = await tool(host, name, { game_id: hidden, move: "e4", seat_token: other.token });
      expect(answer.text).toBe(`No game ${hidden} here`);
    }
    expect((await tool(host, "get_game_state", { match_id: hidden })).isError).toBe(true);
    expect((await host.get(`/api/games/${shown}`)).json).toMatchObject({ your_role: "spectator", tick: 0 });
    expect((await host.get(`/api/games/${hidden}`, two.token)).json).toMatchObject({ your_role: "black" });
    const { games } = (await host.get("/api/games")).json;
    const ids = games.map(({ game_id }: { game_id: string }) => game_id);
    expect(ids).toContain(shown);
    expect(ids).not.toContain(hidden);
  });

  it("GET /api/games lists active games first, with players and results", async () => {
    const [over] = await twoSeats(host, "chess", { options: { fen: "7k/4Q3/6K1/8/8/8/8/8 w - - 0 1" } });
    await over.move("Qg7#");
    const [ann] = await twoSeats(host, "rps", { name: "<b>Ann" });
    const { games } = (await host.get("/api/games")).json;
    const mine = games.find(({ game_id }: { game_id: string }) => game_id === ann.gameId);
    const players = { player_1: "<b>Ann", player_2: "agent" };
    expect(mine).toMatchObject({ template: "rps.v1", status: "active", players });
    const statuses: string[] = games.map(({ status }: { status: string }) => status);
    expect(statuses).toEqual(statuses.toSorted());
    expect(statuses).toContain("completed");
    const result = { winners: ["white"], winner: "white", reason: "checkmate", termination: "normal" };
    const resultOf = (id: string) => games.find(({ game_id }: { game_id: string }) => game_id === id).result;
    expect([resultOf(over.gameId), resultOf(ann.gameId)]).toEqual([result, null]);
  });

  it("invalid requests are rejected with a code and status of the host", async () => {
    const [one] = await twoSeats(host, "chess");
    const moves = `/api/games/${one.gameId}/moves`;
    const bodies = ["", "{", "[]", '"e4"', "null", "{}", '{"move":"e4","more":1}', '{"move":"e4","claim":"mate"}'];
    const moreBodies = [
      '{"move":"e4","expected_tick":-1}',
      '{"move":"e4","__proto__":{}}',
      '{"move":"e4","claim_win":true}',
    ];
    for (const body of [...bodies, ...moreBodies]) {
      expect(code(await host.post(moves, body, one.token)), body).toEqual([400, "INVALID_REQUEST"]);
    }
    expect(code(await host.post(moves, { move: "x".repeat(70_000) }, one.token))).toEqual([413, "INVALID_REQUEST"]);
    for (const body of [
      "{",
      "[]",
      "{}",
      '{"template":"go"}',
      '{"template":"chess","opponent":"unknown"}',
      '{"template":1}',
    ]) {
      expect((await host.post("/api/games", body)).json.error.code, body).toMatch(/INVALID_REQUEST|NOT_FOUND/);
    }
    for (const name of ["", " ", "x".repeat(61), "a\nb"]) {
      expect(code(await host.post("/api/games", { template: "chess", name }))).toEqual([400, "INVALID_REQUEST"]);
    }
    for (const [method, path] of [
      ["GET", moves],
      ["PUT", moves],
      ["POST", `/api/games/${one.gameId}`],
      ["POST", `/game/${one.gameId}`],
      ["DELETE", `/api/games/${one.gameId}`],
      ["PATCH", "/api/games"],
    ] as const) {
      expect(code(await host.call(method, path, { token: one.token })), `${method} ${path}`).toEqual([
        404,
        "NOT_FOUND",
      ]);
    }
    expect((await host.get(`/api/games/${one.gameId}`)).json.tick).toBe(0);
  });
});

describe("a move on a page", () => {
  it("needs the token of a seat, and may be in any notation with a claim", async () => {
    const [white, black] = await twoSeats(host, "chess", { options: { fen: "7k/4Q3/6K1/8/8/8/8/8 w - - 0 1" } });
    const path = `/api/games/${white.gameId}/moves`;
    for (const [token, fault] of [
      [undefined, "is missing"],
      ["made-up", "is not the token of a seat of this game"],
    ] as const) {
      const rejected = await host.post(path, { move: "Qg7" }, token);
      expect(code(rejected)).toEqual([401, "UNAUTHORIZED"]);
      expect(rejected.json.error.message).toBe(`Authorization: ${fault}; send "Bearer" and the token of your seat`);
    }
    expect(code(await host.post(path, { move: "Kg8" }, black.token))).toEqual([409, "CONFLICT"]);
    expect(code(await host.post(path, { move: "Qa8" }, white.token))).toEqual([400, "INVALID_ACTION"]);
    expect(code(await host.post(path, { move: null }, white.token))).toEqual([400, "INVALID_ACTION"]);
    expect(code(await host.post(path, { move: "Qg7", expected_tick: 1 }, white.token))).toEqual([409, "CONFLICT"]);
    const accused = await host.post(path, { move: "Qe5", claim: "checkmate" }, white.token);
    expect(accused.json.error).toEqual({ code: "INVALID_ACTION", message: "Accusation failed: Not checkmate" });
    const won = await host.post(path, { move: "Qg7#", claim: "win", expected_tick: 0 }, white.token);
    expect(won.json).toMatchObject({ status: "completed", your_role: "white", result: { winner: "white" } });
    const late = await host.post(path, { move: "Qg7#" }, white.token);
    expect([...code(late), late.json.error.message]).toEqual([409, "CONFLICT", "The game is over: checkmate"]);
  });

  it("can be made by each of two people in a game that was created on a page", async () => {
    const created = await host.post("/api/games", {
      template: "tic_tac_toe",
      opponent: "human",
      play_as: "o",
      name: "Ann",
    });
    expect(created.status).toBe(201);
    const { game_id, your_role, link, opponent_link } = created.json;
    expect(your_role).toBe("o");
    expect(link.startsWith(`${host.url}/game/${game_id}#seat=`)).toBe(true);
    const [ann, bob] = [tokenOf(link), tokenOf(opponent_link)];
    expect(ann).not.toBe(bob);
    const path = `/api/games/${game_id}`;
    expect((await host.post(`${path}/moves`, { move: "b2" }, bob)).json).toMatchObject({ your_role: "x", tick: 1 });
    expect((await host.post(`${path}/moves`, { move: "a1" }, ann)).json).toMatchObject({ your_role: "o", tick: 2 });
    const players = { x: { kind: "human", name: "Guest" }, o: { kind: "human", name: "Ann" } };
    expect((await host.get(path, ann)).json).toMatchObject({ to_act: ["x"], legal_actions: [], players });
    expect((await tool(host, "joinGame", { game_id })).isError).toBe(true);
  });

  it("can be made against an agent that has joined", async () => {
    const created = await host.post("/api/games", { template: "chess", opponent: "agent", name: "Ann" });
    expect(Object.keys(created.json).sort()).toEqual(["game_id", "link", "your_role"]);
    const agent = await joinGame(host, created.json.game_id);
    expect((await agent.wait()).text).toMatch(/^Waiting for User: white \(Ann\) has to move/);
    await host.post(`/api/games/${created.json.game_id}/moves`, { move: "e4" }, tokenOf(created.json.link));
    expect((await agent.wait()).value).toMatchObject({ next: "your_turn", tick: 1 });
  });
});

describe("GET /api/games/{id}/events", () => {
  let one: TestSeat;
  let two: TestSeat;
  const streams: Awaited<ReturnType<typeof watchGame>>[] = [];
  const watch = async (token?: string, lastEventId?: string) => {
    const stream = await watchGame(host, one.gameId, token, lastEventId);
    streams.push(stream);
    return stream;
  };
  afterEach(() => {
    for (const stream of streams.splice(0)) stream.close();
  });

  it("sends each viewer its view as event `game` until the game is over", async () => {
    [one, two] = await twoSeats(host, "rps");
    const [seat, watcher] = [await watch(two.token), await watch()];
    expect(seat.response.headers.get("content-type")).toBe("text/event-stream");
    for (const stream of [seat, watcher]) expect(await stream.next()).toMatchObject({ event: "game", id: "0" });
    await one.move("rock");
    expect((await seat.next())?.data).toMatchObject({ tick: 1, to_act: ["player_2"], last_action: null });
    await two.move("paper");
    const [last] = await remainingEvents(seat);
    const [only, ...more] = await remainingEvents(watcher);
    expect(more).toEqual([]);
    expect(only).toMatchObject({ id: "2", data: { your_role: "spectator", status: "completed", tick: 2 } });
    expect(last?.data).toEqual({ ...only?.data, your_role: "player_2" });
  });

  it("continues after Last-Event-ID, and answers 204 after the last event", async () => {
    [one, two] = await twoSeats(host, "tic_tac_toe");
    await play([one, two], ["a1", "b1", "a2"]);
    const resumed = await watch(two.token, "1");
    const events = [await resumed.next(), await resumed.next()];
    expect(events.map((event) => [event?.id, event?.data.last_action.action])).toEqual([
      ["2", "b1"],
      ["3", "a2"],
    ]);
    await play([two, one], ["b2", "a3"]);
    expect((await remainingEvents(resumed)).map(({ id }) => id)).toEqual(["4", "5"]);
    expect((await watch(undefined, "5")).response.status).toBe(204);
    expect((await watch(undefined, "x")).response.status).toBe(400);
    const late = await remainingEvents(await watch());
    expect(late.map(({ id, data }) => [id, data.result.winner])).toEqual([["5", "x"]]);
  });
});

describe("the rate limit with limitLoopback", () => {
  it("applies to callers without a seat, and not to holders of a seat", async () => {
    const limited = await startTestHost({ limitLoopback: true });
    try {
      const seat = await createGame(limited, { template: "chess", opponent: "human" }, { bearer: "ann" });
      const path = `/api/games/${seat.gameId}`;
      const ask = async (token?: string) =>
        (await limited.call("POST", `${path}/moves`, { body: { move: "e4" }, ...(token && { token }) })).status;
      const anonymous = await Promise.all(Array.from({ length: 60 }, () => ask()));
      expect(anonymous.filter((status) => status !== 429)).toHaveLength(49); // createGame was the first of 50
      expect(anonymous.filter((status) => status === 429)).toHaveLength(11);
      expect(await ask("made-up")).toBe(429);
      const reads = await Promise.all(Array.from({ length: 60 }, () => limited.call("GET", path)));
      expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200])); // they are counted separately
      const seated = await Promise.all(Array.from({ length: 60 }, (_, at) => ask(at % 2 ? seat.token : "ann")));
      expect(seated).not.toContain(429);
      const tools = await Promise.all(Array.from({ length: 60 }, () => seat.wait()));
      expect(tools.every(({ isError }) => !isError)).toBe(true);
    } finally {
      await limited.remove();
    }
  });
});
