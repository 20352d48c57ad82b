import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { evenOdd } from "#shared/games/even-odd.ts";
import { rps } from "#shared/games/rps.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { createPeers, type Peers } from "#shared/rpc/peer/peer.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createHost, createWaits, type Waits } from "../sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
import { evenOddRoles, startTestLeague, type TestLeague, testDriver } from "../testing/match.ts";
import { type HostedDriver, MatchWithdrawn, notifyResult, playMatch, playSeats, seatsOf } from "./play-match.ts";

let peers: Peers;
let driver: HostedDriver & { readonly waits: Waits };
let league: TestLeague;
/** P01 answers move requests when this is resolved. */
let mayAnswer: PromiseWithResolvers<void>;
const running = new AbortController();

beforeEach(async () => {
  peers = createPeers({ clock: systemClock });
  const db = openSqlite(":memory:", SESSION_SCHEMA);
  const host = createHost(sessionStore(db, testWriter(db)), systemClock, systemIds);
  driver = { ...testDriver(host, peers), waits: createWaits(host, systemClock) };
  mayAnswer = Promise.withResolvers();
  league = await startTestLeague({
    async move({ to }) {
      if (to === "P01") await mayAnswer.promise;
      return null;
    },
  });
});
afterEach(async () => {
  mayAnswer.resolve();
  driver.waits.close();
  await peers.close();
  league.close();
});

/** Creates a session for an order and submits actions in it. Resolves with its id. */
async function createSession(order: StartGame, ...played: readonly [role: string, action: string][]): Promise<string> {
  const options = rps.options.parse(order.options);
  const { id } = await driver.host.create({ game: rps as never, options, seed: order.seed, seats: seatsOf(order) });
  for (const [role, action] of played) await driver.host.submit(id, { role, action, expectedTick: null });
  return id;
}
const messagesOf = (type: string) => league.received.filter((message) => message.type === type);

describe("a match that is resumed by another driver", () => {
  it("requests the missing actions only, and repeats no invitation, GAME_START or ROUND_RESULT", async () => {
    mayAnswer.resolve();
    const order = league.order({ options: { best_of: 3 } });
    const id = await createSession(order, ["player_1", "rock"], ["player_2", "scissors"], ["player_1", "rock"]);
    const result = await playMatch(driver, order, id, running.signal);
    expect(result).toMatchObject({ termination: "normal", winner: "P01", faults: [] });
    expect([...messagesOf("GAME_INVITE"), ...messagesOf("GAME_START")]).toEqual([]);
    const requests = messagesOf("MOVE_REQUEST").map(({ to, payload }) => [to, payload.tick, payload.game_round]);
    expect(requests).toEqual([["P02", 2, 2]]);
    await Promise.all([league.waitFor("P01", "ROUND_RESULT"), league.waitFor("P02", "ROUND_RESULT")]);
    expect(messagesOf("ROUND_RESULT").map(({ payload }) => payload.game_round)).toEqual([2, 2]);
  });
});

it("the number of reads of the session does not depend on the number of actions", async () => {
  mayAnswer.resolve();
  const reads = async (more: object): Promise<number> => {
    let count = 0;
    const read: HostedDriver["host"]["read"] = (id) => {
      count++;
      return driver.host.read(id);
    };
    const order = league.order(more);
    const id = await createSession(order);
    const result = await playMatch({ ...driver, host: { ...driver.host, read } }, order, id, running.signal);
    expect(result).toMatchObject({ termination: "normal" });
    return count;
  };
  const once = await reads({ match_id: "R1M1" });
  expect(await reads({ match_id: "R1M2", options: { best_of: 9 } })).toBe(once);
});

describe("a player that does not answer in time", () => {
  const timeouts = { join_ms: 20_000, move_ms: 200, game_over_ms: 5_000 };

  it("receives GAME_ERROR G002 with the match, and its opponent receives no error", async () => {
    const order = league.order({ timeouts });
    const result = await playMatch(driver, order, await createSession(order), running.signal);
    expect(result).toMatchObject({
      termination: "forfeit",
      winner: "P02",
      faults: [{ player_id: "P01", code: "G002" }],
    });
    const { payload } = await league.waitFor("P01", "GAME_ERROR");
    expect(payload).toEqual({
      league_id: "rps",
      match_id: "R1M1",
      error_code: "G002",
      error_name: "TIMEOUT",
      retryable: false,
      message: result.faults[0]?.detail,
      context: { match_id: "R1M1", role: "player_1", cause: "timeout" },
    });
    expect(messagesOf("GAME_ERROR").map(({ to }) => to)).toEqual(["P01"]);
  });
});

it("a player whose endpoint belongs to another player now forfeits its match", async () => {
  const { player_1, player_2 } = league.order().roles;
  const roles = { player_1: { ...player_1, endpoint: "" }, player_2 } as StartGame["roles"];
  const order = league.order({ roles });
  expect(await playMatch(driver, order, await createSession(order), running.signal)).toMatchObject({
    termination: "forfeit",
    winner: "P02",
    match_points: { P01: 0, P02: 3 },
    faults: [{ player_id: "P01", code: "G002", cause: "refused" }],
  });
  expect(messagesOf("GAME_INVITE")).toEqual([]);
});

describe("a seat that is asked while the other seat uses another interface", () => {
  /** Starts a match in which P01 is asked and P02 has no endpoint. Resolves when P01 has received its request. */
  async function startAsking(signal: AbortSignal) {
    const order = league.order();
    const { player_1, player_2 } = order.roles;
    const roles = { player_1, player_2: { ...player_2, endpoint: "" } } as StartGame["roles"];
    const id = await createSession({ ...order, roles });
    const played = playSeats(driver, { ...order, roles }, id, signal);
    played.catch(() => {});
    await league.waitFor("P01", "MOVE_REQUEST");
    return { id, played, read: () => driver.host.read(id) };
  }

  it("has no fault if its host stops during its turn, and the session is not changed", async () => {
    const stopping = new AbortController();
    const { played, read } = await startAsking(stopping.signal);
    stopping.abort();
    await expect(played).rejects.toThrow(MatchWithdrawn);
    expect(read()?.session).toMatchObject({ status: "active", faults: [] });
    expect(read()?.rows).toHaveLength(1);
  });

  it("has no fault if the session ends during its turn, and receives the result", async () => {
    const { id, played, read } = await startAsking(running.signal);
    await driver.host.abort(id, "bot_failed");
    mayAnswer.resolve();
    await played;
    expect(read()?.session).toMatchObject({ termination: "aborted", faults: [] });
    const { payload } = await league.waitFor("P01", "GAME_RESULT");
    expect(payload).toMatchObject({ winner: null, termination: "aborted", reason: "bot_failed" });
  });
});

it("players receive the options of the match with defaults, and the time limit in whole milliseconds", async () => {
  mayAnswer.resolve();
  const order = league.order({
    game: "even_odd.v1",
    roles: evenOddRoles(league),
    timeouts: { ...TIMES, move_ms: 4_321 },
  });
  const { id } = await driver.host.create({
    game: evenOdd as never,
    options: evenOdd.options.parse({}),
    seed: order.seed,
    seats: seatsOf(order),
  });
  await playMatch(driver, order, id, running.signal);
  const effective = { variant: "sum", rounds_to_win: 3, max_rounds: 5 };
  expect(order.options).toEqual({});
  for (const to of ["P01", "P02"] as const) {
    expect((await league.waitFor(to, "GAME_INVITE")).payload.options).toEqual(effective);
    const { game_config } = (await league.waitFor(to, "GAME_START")).payload;
    expect(game_config).toEqual({ game_type: "even_odd.v1", ...effective, time_limit_seconds: 4.321 });
    const { time_limit_seconds } = (await league.waitFor(to, "MOVE_REQUEST")).payload;
    expect(Number((time_limit_seconds * 1_000).toFixed(6)) % 1).toBe(0);
  }
});

it("the requests to a player with a separate time limit contain this limit", async () => {
  mayAnswer.resolve();
  const { player_1, player_2 } = league.order().roles;
  const roles = { player_1, player_2: { ...player_2, move_ms: 90_000 } } as StartGame["roles"];
  const order = league.order({ roles });
  await playMatch(driver, order, await createSession(order), running.signal);
  const limits = { P01: order.timeouts.move_ms / 1_000, P02: 90 };
  for (const to of ["P01", "P02"] as const) {
    const { game_config } = (await league.waitFor(to, "GAME_START")).payload;
    expect(game_config.time_limit_seconds).toBe(limits[to]);
    const { time_limit_seconds } = (await league.waitFor(to, "MOVE_REQUEST")).payload;
    expect(Math.round(time_limit_seconds)).toBe(limits[to]);
  }
});

it("the messages of an even/odd match have the documented fields", async () => {
  mayAnswer.resolve();
  const numbers = { P01: [1, 2, 3], P02: [2, 3, 3] } as const;
  const players = await startTestLeague({
    move: ({ to, payload }) => (to === "manager" ? null : numbers[to][payload.game_round - 1]),
  });
  const messagesTo = (to: "P01" | "P02", type: string) =>
    players.received.filter((one) => one.to === to && one.type === type).map(({ payload }) => payload);
  const order = players.order({ game: "even_odd.v1", roles: evenOddRoles(players), options: { rounds_to_win: 2 } });
  const options = evenOdd.options.parse(order.options);
  const { id } = await driver.host.create({
    game: evenOdd as never,
    options,
    seed: order.seed,
    seats: seatsOf(order),
  });
  const result = await playMatch(driver, order, id, running.signal);
  await notifyResult(driver, order, id, result, running.signal);
  await vi.waitFor(() => expect(messagesTo("P02", "ROUND_RESULT")).toHaveLength(2), WAIT_OPTIONS);
  players.close();

  const match = { league_id: "rps", match_id: "R1M1" };
  const roles = [
    { player_id: "P01", role: "ODD" },
    { player_id: "P02", role: "EVEN" },
  ];
  expect(messagesTo("P01", "GAME_START")).toMatchObject([{ ...match, round_id: 1, players: roles }]);
  const requests = messagesTo("P02", "MOVE_REQUEST");
  expect(requests.map(({ game_round }) => game_round)).toEqual([1, 2]);
  expect(requests[1]).toMatchObject({
    ...match,
    tick: 2,
    your_role: "EVEN",
    legal_actions: [1, 2, 3, 4, 5],
    time_limit_seconds: expect.any(Number),
    game_state: { scores: { ODD: 1, EVEN: 0 }, previous_rounds: [{ round: 1, winner: "ODD" }] },
  });
  const [first, second] = messagesTo("P02", "ROUND_RESULT");
  expect(first).toEqual({
    ...match,
    game_round: 1,
    moves: { P01: 1, P02: 2 },
    sum: 3,
    sum_type: "ODD",
    round_winner: "P01",
    scores: { P01: 1, P02: 0 },
  });
  expect(second).toMatchObject({ sum: 5, sum_type: "ODD", round_winner: "P01", scores: { P01: 2, P02: 0 } });
  expect(messagesTo("P02", "GAME_RESULT")).toMatchObject([
    {
      ...match,
      final_scores: { P01: 2, P02: 0 },
      winner: "P01",
      match_points: { P01: 3, P02: 0 },
      termination: "normal",
      seed: order.seed,
    },
  ]);
});

const TIMES = { join_ms: 20_000, game_over_ms: 5_000 };
