import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { rps } from "#shared/games/rps.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { GameInvite } from "#shared/protocol/messages.ts";
import { createPeers, type Peers } from "#shared/rpc/peer/peer.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createHost, type SessionHost } from "../sessions/host.ts";
import { SEAT_SCHEMA } from "../sessions/seats.ts";
import { SESSION_SCHEMA, sessionLists, sessionStore } from "../sessions/session-store.ts";
import { startTestLeague, testDriver } from "../testing/match.ts";
import { MATCH_SCHEMA, matchTable } from "./match-table.ts";
import { playSeats, seatsOf } from "./play-match.ts";
import type { Asker } from "./player-messages.ts";
import { createReferee, type Referee } from "./referee.ts";

const UNREACHABLE = "http://127.0.0.1:9/mcp";
let db: DatabaseSync;
let peers: Peers;
let host: SessionHost;
let referee: Referee;
beforeEach(() => {
  db = openSqlite(":memory:", SESSION_SCHEMA + MATCH_SCHEMA + SEAT_SCHEMA);
  peers = createPeers({ clock: systemClock });
  host = createHost(sessionStore(db, testWriter(db)), systemClock, systemIds);
  referee = newReferee();
});
const newReferee = (driver = testDriver(host, peers)): Referee =>
  createReferee({
    driver,
    matches: matchTable(db, testWriter(db)),
    peers,
    log: openLog(null, "referee"),
    manager: UNREACHABLE,
    reportTimeoutMs: 1_000,
    identity: { id: "REF01", token: null },
  });
afterEach(async () => {
  await referee.stop();
  await peers.close();
});

const seat = (player_id: string, league_id: string) => ({
  player_id,
  endpoint: UNREACHABLE,
  match_token: `${player_id} of ${league_id}`,
  dialect: "native",
  legal_actions: false,
  round_results: false,
});
/** Begins a match whose players never answer. */
const begin = (league_id: string, epoch: number) =>
  referee.start({
    league_id,
    match_id: "R1M1",
    round_id: 1,
    epoch,
    game: "rps.v1",
    options: {},
    seed: "seed",
    roles: { player_1: seat("P01", league_id), player_2: seat("P02", league_id) },
    timeouts: { join_ms: 60_000, move_ms: 60_000, game_over_ms: 1_000 },
  });
const sessionOf = (ref: string) => {
  const found = referee.sessionOf(ref);
  return found.ok ? found.value : found.error.error_code;
};

it("a match id names the newest epoch of the match, and needs the league id if two leagues have such a match", async () => {
  expect(sessionOf("R1M1")).toBe("G003");
  await begin("one", 1);
  const first = sessionOf("R1M1");
  expect([first, sessionOf("one/R1M1"), sessionOf("two/R1M1")]).toEqual([expect.any(String), first, "G003"]);
  await begin("one", 3);
  const second = sessionOf("R1M1");
  expect(second).not.toBe(first);
  await begin("one", 2);
  expect([sessionOf("R1M1"), sessionOf("one/R1M1")]).toEqual([second, second]);
  await begin("two", 1);
  expect([sessionOf("R1M1"), sessionOf("one/R1M1")]).toEqual(["G003", second]);
  expect([first, second, "G003"]).not.toContain(sessionOf("two/R1M1"));
});

it("a withdrawn match is removed from memory when its driver ends", async () => {
  await begin("one", 1);
  await begin("two", 1);
  expect(host.loaded()).toBe(2);
  referee.withdraw("one", "R1M1", 1);
  await vi.waitFor(() => expect(host.loaded()).toBe(1), WAIT_OPTIONS);
  expect(referee.running().map(({ ref }) => ref)).toEqual(["two/R1M1"]);
});

it("the end of the run of an older epoch leaves the newer one under way, so that it can be withdrawn", async () => {
  const held = Promise.withResolvers<void>();
  const driver = testDriver(host, peers);
  const invite: Asker["invite"] = async (player, invitation, limitMs) => {
    if ((invitation as GameInvite).epoch === 1) await held.promise;
    return driver.asker.invite(player, invitation, limitMs);
  };
  const forget = vi.spyOn(host, "forget");
  referee = newReferee({ ...driver, asker: { ...driver.asker, invite } });
  await begin("one", 1);
  const older = sessionOf("R1M1");
  await begin("one", 2);
  const newer = sessionOf("R1M1");
  held.resolve();
  const forgotten = () => forget.mock.calls.filter(([sessionId]) => sessionId === older);
  // The start of epoch 2 and the end of the run of epoch 1 remove the older session from memory.
  await vi.waitFor(() => expect(forgotten()).toHaveLength(2), WAIT_OPTIONS);
  expect(referee.running().map(({ order }) => order.epoch)).toEqual([2]);
  referee.withdraw("one", "R1M1", 2);
  await vi.waitFor(() => expect(referee.running()).toEqual([]), WAIT_OPTIONS);
  const aborted = { status: "completed", termination: "aborted" };
  await vi.waitFor(() => expect(host.read(newer)?.session).toMatchObject(aborted), WAIT_OPTIONS);
});

it("matches that are stopped can be resumed, unless they are given up because the manager has taken them back", async () => {
  await begin("one", 1);
  const session = sessionOf("one/R1M1");
  const status = () => host.read(session)?.session.status;
  await referee.stop();
  expect(status()).toBe("active");
  await referee.giveUp();
  expect(status()).toBe("completed");
  expect(host.read(session)?.session).toMatchObject({ termination: "aborted" });
});

describe("the session of a replaced match is aborted in lists, for its watchers and in memory", () => {
  const listed = async () =>
    (await sessionLists(db, systemClock).watchable(10)).map(({ status, result }) => [status, result?.reason]);
  const aborted = (reason: string) => ["completed", reason];

  it.each([
    ["the match is withdrawn while it is played", () => referee],
    ["the match is withdrawn from a restarted referee", () => newReferee()],
  ])("when %s", async (_, refereeOf) => {
    await begin("one", 1);
    const terminations: (string | null)[] = [];
    const unwatch = host.watch(sessionOf("one/R1M1"), ({ session }) => terminations.push(session.termination));
    const current = refereeOf();
    if (current !== referee) await referee.stop();
    current.withdraw("one", "R1M1", 1);
    await vi.waitFor(() => expect(terminations.at(-1)).toBe("aborted"), WAIT_OPTIONS);
    expect(await listed()).toEqual([aborted("the match was assigned to another referee")]);
    unwatch();
    host.forgetIdle(-1);
    expect(host.loaded()).toBe(0);
  });

  it("when a restarted referee starts a higher epoch", async () => {
    await begin("one", 1);
    await referee.stop();
    referee = newReferee();
    await begin("one", 2);
    await vi.waitFor(async () => {
      const ends = [aborted("played again under epoch 2"), ["active", undefined]];
      expect(await listed()).toEqual(expect.arrayContaining(ends));
    }, WAIT_OPTIONS);
  });
});

it("an abandoned game with a bot is removed from memory, and the bot is asked again after the next action", async () => {
  const league = await startTestLeague();
  const { player_1, player_2 } = league.order().roles;
  if (!player_1 || !player_2) throw new Error("the order has two players");
  const order = league.order({ options: { best_of: 3 }, roles: { player_1, player_2: { ...player_2, endpoint: "" } } });
  const options = rps.options.parse(order.options);
  const { id } = await host.create({ game: rps as never, options, seed: "s", seats: seatsOf(order), actedBy: "seats" });
  const stopping = new AbortController();
  const played = playSeats(testDriver(host, peers), order, id, stopping.signal);
  try {
    for (const tick of [1, 3]) {
      await vi.waitFor(() => expect(host.read(id)?.session.tick).toBe(tick), WAIT_OPTIONS);
      await vi.waitFor(() => {
        host.forgetIdle(-1);
        expect(host.loaded()).toBe(0);
      }, WAIT_OPTIONS);
      if (tick === 1) await host.submit(id, { role: "player_2", action: "paper", expectedTick: null });
    }
    await host.submit(id, { role: "player_2", action: "paper", expectedTick: null });
    await played;
    expect((await league.waitFor("P01", "GAME_RESULT")).payload).toMatchObject({
      winner: "P02",
      termination: "normal",
    });
  } finally {
    stopping.abort();
    await played.catch(() => {});
    league.close();
  }
});
