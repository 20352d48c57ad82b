import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findGame } from "#shared/games/registry.ts";
import { type Clock, systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { createPeers, type Peers } from "#shared/rpc/peer/peer.ts";
import { faultsOfMatch } from "#shared/session/match-result.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createHost } from "../sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
import { type ReceivedMessage, startTestLeague, type TestLeague, testDriver } from "../testing/match.ts";
import { matchState } from "../views.ts";
import { MatchNames } from "./match-names.ts";
import { MatchWithdrawn, playMatch, seatsOf } from "./play-match.ts";

/** The time of the referee, in milliseconds. It passes only while a player thinks: each player adds the time that it takes for a move. */
let now = 0;
const clock: Clock = { ...systemClock, monotonic: () => now, idle: () => now };
/** Chooses the move of a player. By default each player takes no time, P01 plays rock and P02 scissors. */
let think: (request: ReceivedMessage) => unknown;
let league: TestLeague;
let peers: Peers;
let db: ReturnType<typeof openSqlite>;

beforeEach(async () => {
  now = 0;
  think = () => null;
  peers = createPeers({ clock });
  db = openSqlite(":memory:", SESSION_SCHEMA);
  league = await startTestLeague({ move: (request) => think(request) });
});
afterEach(async () => {
  await peers.close();
  league.close();
});

/** Creates the driver of a referee. A second one replays the sessions from their logs, as a restarted referee does. */
const newDriver = () => testDriver(createHost(sessionStore(db, testWriter(db)), clock, systemIds), peers, clock);

const CONTROL = { initial_ms: 10_000, increment_ms: 500 };

/** The order of a match of tic-tac-toe, in which P01 begins. */
const ticTacToe = (more: object = {}): StartGame => {
  const { player_1, player_2 } = league.order(more).roles;
  return league.order({ game: "tic_tac_toe.v1", clock: CONTROL, roles: { x: player_1, o: player_2 }, ...more });
};

async function createSession(driver: ReturnType<typeof newDriver>, order: StartGame): Promise<string> {
  const game = findGame(order.game);
  if (!game) throw new Error(`no game ${order.game}`);
  const options = game.options.parse(order.options);
  const { seed, clock: control } = order;
  return (await driver.host.create({ game, options, seed, clock: control, seats: seatsOf(order) })).id;
}

/** Plays a match and returns its result with the clocks at the end. The result follows from its log. */
async function play(order: StartGame) {
  const driver = newDriver();
  const id = await createSession(driver, order);
  const result = await playMatch(driver, order, id, new AbortController().signal);
  const { game, options, seed, clock: control } = order;
  const roles = Object.fromEntries(Object.entries(order.roles).map(([role, { player_id }]) => [role, player_id]));
  expect(faultsOfMatch({ ...result, game, options, seed, clock: control, roles })).toEqual([]);
  return { ...result, remaining: driver.host.read(id)?.session.clocks?.remaining_ms };
}

const requestsTo = (to: string) =>
  league.received.filter((message) => message.type === "MOVE_REQUEST" && message.to === to);
const clocksFor = (to: string) => requestsTo(to).map(({ payload }) => Object.values(payload.clock.remaining_ms));
const chargesOf = (log: readonly string[]) => log.slice(1).map((text) => JSON.parse(text).spent_ms);

/** P01 takes a column of three squares, and P02 another one. */
const column = ({ to, payload }: ReceivedMessage): string => `${to === "P01" ? "a" : "b"}${(payload.tick >> 1) + 1}`;

describe("in a match with clocks", () => {
  it("each player is charged its own time and gains the increment; each request has all clocks", async () => {
    const taken = { P01: [1_200, 0, 700], P02: [3_000, 2_500] };
    think = (request) => {
      now += taken[request.to as "P01"].shift() ?? 0;
      return column(request);
    };
    const { log, winner, remaining } = await play(ticTacToe());
    expect(winner).toBe("P01");
    expect(chargesOf(log)).toEqual([1_200, 3_000, 0, 2_500, 700]);
    expect(clocksFor("P01")).toEqual([
      [10_000, 10_000],
      [9_300, 7_500],
      [9_800, 5_500],
    ]);
    expect(clocksFor("P02")).toEqual([
      [9_300, 10_000],
      [9_800, 7_500],
    ]);
    expect(remaining).toEqual({ x: 9_600, o: 5_500 });
    const { payload } = requestsTo("P01")[0] as ReceivedMessage;
    expect(payload).toMatchObject({ time_limit_seconds: 10, clock: CONTROL });
    expect((await league.waitFor("P01", "GAME_INVITE")).payload.clock).toEqual(CONTROL);
  });

  it("each player of a simultaneous turn is charged its own time, and requests do not show who has answered", async () => {
    const first = Promise.withResolvers<void>();
    think = async ({ to, payload: { tick } }) => {
      if (tick > 0) return to === "P01" ? "rock" : "scissors";
      if (to === "P02") await first.promise;
      now += to === "P01" ? 300 : 400;
      return "rock"; // both: a draw of the round
    };
    const driver = newDriver();
    const order = league.order({ options: { best_of: 3 }, clock: CONTROL });
    const id = await createSession(driver, order);
    let seenDuringTurn = {};
    driver.host.watch(id, ({ session }) => {
      if (session.tick !== 1) return;
      seenDuringTurn = matchState(session, "spectator", { host: driver.host, referee: { names: new MatchNames() } });
      first.resolve();
    });
    const result = await playMatch(driver, order, id, new AbortController().signal);
    expect(chargesOf(result.log).slice(0, 2)).toEqual([300, 700]);
    // Spectators of the open turn did not see the charge of P01, which shows that it has chosen.
    expect(seenDuringTurn).toMatchObject({ status: "active", clock: { remaining_ms: { player_1: 10_000 } } });
    expect([clocksFor("P01")[0], clocksFor("P02")[0]]).toEqual([
      [10_000, 10_000],
      [10_000, 10_000],
    ]);
    expect([clocksFor("P01")[1], clocksFor("P02")[1]]).toEqual([
      [10_200, 9_800],
      [10_200, 9_800],
    ]);
  });

  it("the clock goes on after an illegal action, and the repeated request has the time that is left", async () => {
    think = (request) => {
      if (request.to === "P01" && request.payload.tick === 0) now += 2_000;
      return request.to === "P01" && request.payload.tick === 0 && !request.payload.error ? "z9" : column(request);
    };
    const { log } = await play(ticTacToe());
    expect(chargesOf(log)[0]).toBe(4_000);
    const [first, second] = requestsTo("P01").map(({ payload }) => [
      payload.clock.remaining_ms.x,
      payload.time_limit_seconds,
    ]);
    expect([first, second]).toEqual([
      [10_000, 10],
      [8_000, 8],
    ]);
  });

  it("a player that answers after its time has lost on time, although its move is legal", async () => {
    think = (request) => {
      now += request.to === "P02" ? 10_000 : 0;
      return column(request);
    };
    const result = await play(ticTacToe());
    expect(result).toMatchObject({ termination: "forfeit", reason: "clock", winner: "P01", remaining: { o: 0 } });
    const fault = { player_id: "P02", role: "o", code: "G002", cause: "clock", detail: "lost on time (10+0.5)" };
    expect(result.faults).toEqual([fault]);
    const { payload } = await league.waitFor("P02", "GAME_ERROR");
    expect(payload).toMatchObject({ error_code: "G002", context: { cause: "clock" } });
  });

  it("players that do not answer lose on time; if all are late in one turn, all lose", async () => {
    think = () => new Promise(() => {});
    const short = { initial_ms: 60, increment_ms: 0 };
    const both = await play(league.order({ clock: short }));
    expect(both).toMatchObject({ winner: null, reason: "clock,clock", match_points: { P01: 0, P02: 0 } });
    expect(both.remaining).toEqual({ player_1: 0, player_2: 0 });
    expect(await play(ticTacToe({ match_id: "R1M2", clock: short }))).toMatchObject({ winner: "P02", reason: "clock" });
  });

  it("the limit for a move applies if it is earlier than the clock, and is a timeout", async () => {
    think = () => new Promise(() => {});
    const timeouts = { join_ms: 20_000, move_ms: 60, game_over_ms: 5_000 };
    const result = await play(ticTacToe({ timeouts }));
    expect(result).toMatchObject({ reason: "timeout", remaining: { x: 10_000 } });
    expect(requestsTo("P01")[0]?.payload.time_limit_seconds).toBe(0.06);
  });

  it("a player that cannot be reached until its time is over has not lost on time", async () => {
    const { player_1, player_2 } = league.order().roles;
    const roles = { x: { ...player_1, endpoint: "http://127.0.0.1:1/mcp" }, o: player_2 };
    const driver = newDriver();
    const order = ticTacToe({ roles, clock: { initial_ms: 60, increment_ms: 0 } });
    const id = await createSession(driver, order);
    // The match is resumed, because a player that cannot be reached accepts no invitation.
    await driver.host.submit(id, { role: "x", action: "a1", expectedTick: 0, spentMs: 5 });
    await driver.host.submit(id, { role: "o", action: "b1", expectedTick: 1, spentMs: 5 });
    const result = await playMatch(driver, order, id, new AbortController().signal);
    expect(result.faults).toMatchObject([{ player_id: "P01", cause: "refused" }]);
  });

  it("a resumed match continues with the clocks of its log: the time of the open request is not charged", async () => {
    const asked = Promise.withResolvers<void>();
    think = (request) => {
      now += 1_000;
      if (request.payload.tick < 2) return column(request);
      asked.resolve();
      return new Promise(() => {});
    };
    const [first, second] = [newDriver(), newDriver()];
    const order = ticTacToe();
    const id = await createSession(first, order);
    const withdraw = new AbortController();
    const begun = playMatch(first, order, id, withdraw.signal);
    await asked.promise;
    withdraw.abort();
    await expect(begun).rejects.toThrow(MatchWithdrawn);
    now += 60_000; // the referee is down
    think = column;
    const { log } = await playMatch(second, order, id, new AbortController().signal);
    expect(clocksFor("P01").slice(1, 3)).toEqual([
      [9_500, 9_500],
      [9_500, 9_500],
    ]);
    expect(chargesOf(log)).toEqual([1_000, 1_000, 0, 0, 0]);
  });
});

it("a match without clocks has no clock in its messages and its log", async () => {
  const order = ticTacToe({ clock: undefined });
  think = column;
  const { log } = await play(order);
  expect(log.join()).not.toMatch(/clock|spent_ms/);
  expect(league.received.map(({ bytes }) => bytes).join()).not.toMatch(/clock/);
});

it("the result has the times of each player's turns, and the number of its invalid answers", async () => {
  const taken = { P01: [40, 20, 300], P02: [7, 9] };
  think = (request) => {
    if (request.to === "P02" && request.payload.tick === 1 && !request.payload.error) {
      now += 30;
      return "z9";
    }
    now += taken[request.to as "P01"].shift() ?? 0;
    return column(request);
  };
  const { answer_times } = await play(ticTacToe({ clock: undefined }));
  expect(answer_times).toEqual({
    P01: { turns: 3, median_ms: 40, p95_ms: 300, max_ms: 300, max_tick: 4, invalid: 0 },
    // The time of the illegal action belongs to the turn.
    P02: { turns: 2, median_ms: 9, p95_ms: 37, max_ms: 37, max_tick: 1, invalid: 1 },
  });
});
