import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { observe } from "../rest/testing/observer.ts";
import { createGame, joinGame, play, type TestSeat, tokenOf, tool, twoSeats } from "./testing/play.ts";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

/** The number of actions of a game. */
const tickOf = async (game: TestSeat): Promise<number> =>
  (await host.call("GET", `/api/games/${game.gameId}`, { token: game.token })).json.tick;

describe("an action is rejected", () => {
  let white: TestSeat;
  let black: TestSeat;
  beforeEach(async () => {
    [white, black] = await twoSeats(host, "chess");
  });

  it("with any token but that of the seat", async () => {
    const [other] = await twoSeats(host, "chess");
    const wrongTokens = [undefined, "", "made-up", other.token, white.gameId, white.token.slice(1), `${white.token}x`];
    for (const seat_token of wrongTokens) {
      for (const [name, more] of [["finishTurn", { move: "e2e4" }] as const, ["waitForNextTurn", {}] as const]) {
        const answer = await tool(host, name, { game_id: white.gameId, seat_token, ...more });
        expect([answer.isError, answer.text]).toEqual([
          true,
          expect.stringMatching(/^seat_token: (is missing|holds no)/),
        ]);
      }
    }
    const agent = await host.agent();
    const foreign = await tool(host, "finishTurn", { game_id: white.gameId, move: "e2e4" }, { bearer: agent.token });
    expect(foreign.isError).toBe(true);
    expect(await tickOf(white)).toBe(0);
  });

  it("out of turn, a second time and after the end", async () => {
    expect((await black.move("e7e5")).text).toBe(
      "Not your turn: you are black, and your opponent has to move. Call waitForNextTurn",
    );
    await white.move("f3");
    expect((await white.move("g4")).text).toMatch(/^Not your turn: you are white/);
    await play([black, white, black], ["e5", "g4", "Qh4#"]);
    for (const seat of [white, black]) {
      expect((await seat.move("e2e4")).text).toBe("The game is over: checkmate");
      expect((await seat.move("e2e4", { claim: "checkmate" })).text).toBe("The game is over: checkmate");
    }
    expect(await tickOf(white)).toBe(4);
  });

  it("for an earlier or a later tick", async () => {
    expect((await white.move("e4", { expected_tick: 1 })).isError).toBe(true);
    expect((await white.move("e4", { expected_tick: 0 })).isError).toBe(false);
    const stale = await black.move("e5", { expected_tick: 0 });
    expect([stale.isError, stale.text]).toEqual([true, "Expected tick 0, but the session is at 1"]);
    expect((await black.move("e5", { expected_tick: 1 })).isError).toBe(false);
    for (const expected_tick of [-1, 1.5, "two"]) {
      expect((await white.move("d4", { expected_tick })).text).toContain('"expected_tick"');
    }
  });

  it("from a spectator and for an unknown game", async () => {
    const path = `/api/games/${white.gameId}/moves`;
    expect((await host.call("POST", path, { body: { move: "e4" } })).status).toBe(401);
    expect((await host.call("POST", path, { body: { move: "e4" }, token: "made-up" })).status).toBe(401);
    for (const game_id of ["nowhere", "__proto__", "../x", "x".repeat(100)]) {
      const answer = await tool(host, "finishTurn", { game_id, seat_token: white.token, move: "e4" });
      expect([answer.isError, answer.text]).toEqual([true, `No game ${game_id} here`]);
      expect((await tool(host, "joinGame", { game_id })).text).toBe(`No game ${game_id} here`);
    }
    expect(await tickOf(white)).toBe(0);
  });
});

it("one of several concurrent moves of a seat is made", async () => {
  const [white] = await twoSeats(host, "chess");
  const answer = await Promise.all(["e4", "d4", "c4"].map((move) => white.move(move)));
  expect(answer.filter(({ isError }) => !isError)).toHaveLength(1);
  expect(await tickOf(white)).toBe(1);
});

describe("a caller's bearer token", () => {
  it("is valid for the one seat that it took, and for no other seat or game", async () => {
    const [ann, bob] = [{ bearer: "bearer of ann" }, { bearer: "bearer of bob" }];
    const white = await createGame(host, { template: "chess" }, ann);
    const { gameId: game_id } = white;
    await joinGame(host, game_id, {}, bob);
    expect((await tool(host, "finishTurn", { game_id, move: "e5" }, bob)).text).toMatch(
      /^Not your turn: you are black/,
    );
    expect((await tool(host, "finishTurn", { game_id, move: "e4" }, ann)).isError).toBe(false);
    expect((await tool(host, "waitForNextTurn", { game_id }, bob)).value).toMatchObject({
      your_role: "black",
      tick: 1,
    });
    expect((await tool(host, "waitForNextTurn", { game_id }, { bearer: "bearer of carol" })).isError).toBe(true);
    const [another] = await twoSeats(host, "chess");
    expect((await tool(host, "finishTurn", { game_id: another.gameId, move: "e4" }, ann)).isError).toBe(true);
    // A bearer token does not replace a wrong seat_token.
    const wrong = { game_id, move: "e5", seat_token: "made-up" };
    expect((await tool(host, "finishTurn", wrong, bob)).isError).toBe(true);
    // A seat_token has precedence over the bearer token.
    expect((await tool(host, "finishTurn", { game_id, move: "e5", seat_token: white.token }, bob)).text).toMatch(
      /white/,
    );
  });

  it("does not distinguish two agents of one MCP host: they need their seat_token", async () => {
    const one = { bearer: "one host" };
    const white = await createGame(host, { template: "chess" }, one);
    const game_id = white.gameId;
    // The other agent has not joined yet.
    const early = await tool(host, "waitForNextTurn", { game_id }, one);
    expect([early.isError, early.text]).toEqual([true, expect.stringContaining("give seat_token")]);
    const black = await joinGame(host, white.gameId, {}, one);
    for (const [name, more] of [["finishTurn", { move: "e4" }] as const, ["waitForNextTurn", {}] as const]) {
      const answer = await tool(host, name, { game_id, ...more }, one);
      expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining("give seat_token")]);
    }
    const moveAs = (seat: TestSeat, move: string) =>
      tool(host, "finishTurn", { game_id, seat_token: seat.token, move }, one);
    expect((await moveAs(black, "e5")).text).toMatch(/^Not your turn: you are black/);
    expect((await moveAs(white, "e4")).value.your_role).toBe("white");
    expect((await moveAs(black, "e5")).value.your_role).toBe("black");
    // An ambiguous token shows the view of a spectator.
    expect((await host.call("GET", `/api/games/${game_id}`, { token: one.bearer })).json.your_role).toBe("spectator");
    expect((await tool(host, "get_game_state", { match_id: game_id }, one)).value.your_role).toBeUndefined();
  });
});

describe("joinGame", () => {
  it("gives an open seat to one of several concurrent calls", async () => {
    const one = await createGame(host, { template: "rps" });
    const answer = await Promise.all(Array.from({ length: 8 }, () => tool(host, "joinGame", { game_id: one.gameId })));
    const taken = answer.filter(({ isError }) => !isError);
    expect(taken).toHaveLength(1);
    expect(taken[0]?.value.your_role).toBe("player_2");
    for (const { text } of answer.filter(({ isError }) => isError)) expect(text).toMatch(/taken/);
    const { seat_token } = taken[0]?.value ?? {};
    const moved = await tool(host, "finishTurn", { game_id: one.gameId, seat_token, move: "rock" });
    expect(moved.isError).toBe(false);
  });

  it("gives no seat that is taken or belongs to a person, and none of an unknown game", async () => {
    const agent = await host.agent();
    const rest = await host.session(
      "rps.v1",
      { player_1: agent, player_2: await host.agent() },
      { spectators: "public" },
    );
    const [over] = await twoSeats(host, "chess", { options: { fen: "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1" } });
    await over.move("Qg7#");
    const person = await createGame(host, { template: "chess", opponent: "human" });
    const [both] = await twoSeats(host, "chess");
    const open = await createGame(host, { template: "chess" });
    for (const [game_id, role, reason] of [
      [rest, undefined, /^No game/],
      [over.gameId, undefined, /The game is over/],
      [person.gameId, undefined, /Every seat of this game is taken/],
      [person.gameId, "black", /taken/],
      [both.gameId, "white", /taken/],
      [open.gameId, "white", /The seat white is taken; open: black/],
      [open.gameId, "red", /has the roles white and black/],
    ] as const) {
      const answer = await tool(host, "joinGame", { game_id, role });
      expect([answer.isError, answer.text]).toEqual([true, expect.stringMatching(reason)]);
      expect(answer.raw).not.toContain("seat_token\\");
    }
  });
});

describe("an idempotency_key", () => {
  it("makes repeated and concurrent calls move once, and is rejected for another request", async () => {
    const [white, black] = await twoSeats(host, "chess");
    const keyed = { idempotency_key: "turn 1" };
    const two = await Promise.all([white.move("e4", keyed), white.move("e4", keyed)]);
    expect(two.map(({ isError, value }) => [isError, value.tick])).toEqual([
      [false, 1],
      [false, 1],
    ]);
    await black.move("e5");
    expect((await white.move("e4", keyed)).isError).toBe(false);
    for (const [move, more] of [
      ["d4", {}],
      ["e4", { expected_tick: 0 }],
      ["e4", { claim: "draw" }],
    ] as const) {
      const answer = await white.move(move, { ...keyed, ...more });
      expect([answer.isError, answer.text]).toEqual([true, "idempotency_key: was used for another request"]);
    }
    // Keys are separate for each seat, and a rejected call has not used its key.
    expect((await black.move("d6", keyed)).text).toMatch(/^Not your turn/);
    expect(await tickOf(white)).toBe(2);
    expect((await white.move("d4")).isError).toBe(false);
    expect((await black.move("d6", keyed)).isError).toBe(false);
    const [other] = await twoSeats(host, "chess");
    expect((await other.move("e4", keyed)).isError).toBe(false);
  });
});

describe("a person's seat", () => {
  it("moves with its link only, and the agent is informed immediately that it waits for the user", async () => {
    const agent = await createGame(
      host,
      { template: "chess", opponent: "human", play_as: "black" },
      { bearer: "mine" },
    );
    const link = tokenOf(agent.link);
    expect(agent.answer.text).toContain(`this link to move in a browser: ${agent.link}`);
    expect(agent.answer.meta["agent-league/user_seat"]).toMatchObject({ role: "white", token: link });
    const waited = await agent.wait({ timeout_s: 30 });
    expect(waited.value).toMatchObject({ next: "waiting_for_user", timed_out: false, your_role: "black" });
    expect(waited.text).toMatch(/^Waiting for User: white \(Guest\) has to move/);
    for (const as of [{}, { bearer: "mine" }]) {
      const args = { game_id: agent.gameId, seat_token: as.bearer ? undefined : agent.token, move: "e4" };
      expect((await tool(host, "finishTurn", args, as)).text).toMatch(/^Not your turn: you are black, and/);
    }
    const path = `/api/games/${agent.gameId}/moves`;
    const moved = await host.call("POST", path, { token: link, body: { move: "e4" } });
    expect(moved.json).toMatchObject({ your_role: "white", tick: 1, to_act: ["black"] });
    expect((await agent.wait()).value.next).toBe("your_turn");
    // The answer to a call out of turn names the user.
    await agent.move("e5");
    expect((await agent.move("d5")).text).toContain("and the user has to move");
  });

  it("has a link that only the creator of the game receives", async () => {
    const agent = await createGame(host, { template: "chess", opponent: "human" });
    const link = tokenOf(agent.link);
    const answers = [
      await host.call("GET", `/api/games/${agent.gameId}`),
      await host.call("GET", "/api/games"),
      await host.call("GET", `/game/${agent.gameId}`),
      await host.call("GET", `/api/games/${agent.gameId}`, { token: agent.token }),
    ];
    for (const { text } of answers) expect(text).not.toContain(link);
    const made = await host.call("POST", "/api/games", { body: { template: "chess", opponent: "agent" } });
    const other = await joinGame(host, made.json.game_id);
    expect(other.answer.meta).toBeUndefined();
    expect(other.link).not.toContain("#");
    expect(other.answer.raw).not.toContain(tokenOf(made.json.link));
    expect((await other.wait({ showUi: true })).raw).not.toContain(tokenOf(made.json.link));
  });
});

it("seats, holders, links and idempotency keys survive a restart, and only hashes of tokens are stored", async () => {
  const bearer = "ann's restart token";
  const ann = await createGame(host, { template: "chess", name: "Ann" }, { bearer });
  const bob = await joinGame(host, ann.gameId, { name: "Bob" });
  const open = await createGame(host, { template: "chess" });
  const person = await createGame(host, { template: "chess", opponent: "human", play_as: "black" });
  await ann.move("e4", { idempotency_key: "k" });
  const observer = observe(host);
  for (const secret of [bearer, ann.token, bob.token, tokenOf(person.link)])
    expect(observer.dump()).not.toContain(secret);
  observer.close();
  await host.stop();
  host = await startTestHost({ port: host.port, dataFolder: host.dataFolder });

  expect((await ann.move("e4", { idempotency_key: "k" })).value.tick).toBe(1);
  expect((await ann.move("d4", { idempotency_key: "k" })).isError).toBe(true);
  expect((await bob.wait()).value).toMatchObject({
    next: "your_turn",
    players: { white: { name: "Ann", joined: true } },
  });
  const { gameId: game_id } = ann;
  expect((await tool(host, "waitForNextTurn", { game_id, timeout_s: 0 }, { bearer })).value.your_role).toBe("white");
  expect((await open.wait({ timeout_s: 0 })).value.players.black).toMatchObject({ joined: false });
  expect((await joinGame(host, open.gameId)).role).toBe("black");
  expect((await tool(host, "joinGame", { game_id: ann.gameId })).isError).toBe(true);
  const moved = await host.call("POST", `/api/games/${person.gameId}/moves`, {
    token: tokenOf(person.link),
    body: { move: "e4" },
  });
  expect(moved.json).toMatchObject({ your_role: "white", tick: 1 });
  expect((await person.wait()).meta["agent-league/user_seat"].token).toBe(tokenOf(person.link));
});
