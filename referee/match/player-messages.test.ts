import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createHost } from "../sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
import {
  signed,
  startTestLeague,
  startTestReferee,
  type TestReferee,
  TOKEN,
  testDriver,
  tokenOf,
} from "../testing/match.ts";
import { MATCH_SCHEMA, matchTable } from "./match-table.ts";
import { createAsker, publishedFault } from "./player-messages.ts";
import { createReferee } from "./referee.ts";

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

it("a player with only illegal answers is asked three times, and the second and third request contain the error", async () => {
  const referee = await startTestReferee({ move: ({ to }) => (to === "P02" ? "lizard" : null) });
  ends.push(() => referee.stop());
  await referee.begin();
  const { payload } = await referee.waitFor("manager", "MATCH_RESULT");
  expect(payload).toMatchObject({ termination: "forfeit", winner: "P01" });
  expect(payload.faults).toMatchObject([{ player_id: "P02", code: "G001", cause: "illegal_move" }]);
  const requests = referee.received.filter(({ to, type }) => to === "P02" && type === "MOVE_REQUEST");
  const error = { error_code: "G001", message: expect.stringContaining("illegal move: "), retryable: true };
  expect(requests.map(({ payload }) => payload.error ?? null)).toEqual([
    null,
    expect.objectContaining(error),
    expect.objectContaining(error),
  ]);
  expect(new Set(requests.map(({ payload }) => payload.tick))).toEqual(new Set([0]));
  expect(referee.received.filter(({ to, type }) => to === "P01" && type === "MOVE_REQUEST")).toHaveLength(1);
});

it("a fault of a player is logged with code, reason, player and match, and without tokens", async () => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const referee = await startTestReferee({ move: ({ to }) => (to === "P02" ? "lizard" : null) }, false, log);
  ends.push(() => referee.stop());
  await referee.begin();
  await referee.waitFor("manager", "MATCH_RESULT");
  const faults = lines.map((line) => JSON.parse(line)).filter(({ agent }) => agent === "player:P02");
  expect(faults).toMatchObject([
    {
      code: "G001",
      reason: expect.stringMatching(/^illegal_move: illegal move: /),
      request: "MOVE_REQUEST R1M1 tick 0",
    },
  ]);
  expect(lines.join("")).not.toContain(tokenOf("P02", "R1M1"));
});

it("the address of a refused connection is logged and not sent to the manager and the players", async () => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const referee = await startTestReferee({}, false, log);
  ends.push(() => referee.stop());
  const { roles } = referee.order();
  // No program listens on port 1.
  const unreachable = { ...roles.player_2, endpoint: "http://127.0.0.1:1/mcp" };
  await referee.begin({
    roles: { ...roles, player_2: unreachable },
    timeouts: { join_ms: 200, move_ms: 200, game_over_ms: 200 },
  });
  const { payload } = await referee.waitFor("manager", "MATCH_RESULT");
  expect(payload.faults).toEqual([
    { player_id: "P02", role: "player_2", code: "G002", cause: "refused", detail: "connection refused" },
  ]);
  const faults = lines.map((line) => JSON.parse(line)).filter(({ agent }) => agent === "player:P02");
  expect(faults).toMatchObject([
    {
      code: "G002",
      reason: "refused: connection refused (connect ECONNREFUSED 127.0.0.1:1)",
      from: "http://127.0.0.1:1/mcp",
    },
  ]);
  const aboutMatch = referee.received.map(({ payload }) => payload).filter(({ match_id }) => match_id === "R1M1");
  expect(JSON.stringify(aboutMatch)).not.toMatch(/127\.0\.0\.1|ECONN/);
});

it("an order that arrives while a referee stops causes no forfeit and is played after the restart", async () => {
  const league = await startTestLeague();
  ends.push(() => league.close());
  const folder = mkdtempSync(join(tmpdir(), "asking-"));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const open = () => {
    const db = openSqlite(join(folder, "referee.sqlite"), SESSION_SCHEMA + MATCH_SCHEMA);
    const peers = createPeers({ clock: systemClock });
    const referee = createReferee({
      driver: testDriver(createHost(sessionStore(db, testWriter(db)), systemClock, systemIds), peers),
      matches: matchTable(db, testWriter(db)),
      peers,
      log: openLog(null, "referee"),
      manager: league.manager,
      reportTimeoutMs: 10_000,
      identity: { id: "REF01", token: TOKEN },
    });
    ends.push(async () => {
      await referee.stop();
      await peers.close();
      if (db.isOpen) db.close();
    });
    return { db, peers, referee, entries: () => db.prepare("SELECT type FROM log ORDER BY seq").all() };
  };
  const order = league.order();
  const first = open();
  // The service stops its parts in this order.
  await first.referee.stop();
  const started = await first.referee.start(order);
  await first.peers.close();
  await vi.waitFor(() => expect(first.referee.running()).toEqual([]), WAIT_OPTIONS);
  expect(first.entries().map(({ type }) => type)).toEqual(["created"]);
  expect(league.received).toEqual([]);
  first.db.close();

  const second = open();
  expect(await second.referee.start(order)).toEqual(started);
  const { payload } = await league.waitFor("manager", "MATCH_RESULT");
  expect(payload).toMatchObject({ termination: "normal", winner: "P01", epoch: 1, faults: [] });
});

it("start_game without tokens creates a different match token for each player", async () => {
  const referee = await startTestReferee();
  ends.push(() => referee.stop());
  const { player_1, player_2 } = referee.order().roles;
  const players = {
    player1_id: "P01",
    player1_endpoint: player_1?.endpoint,
    player2_id: "P02",
    player2_endpoint: player_2?.endpoint,
    player2_token: "",
  };
  const match = { match_id: "F1", game: "rps.v1", seed: "seed", auth_token: signed("friendly/F1") };
  expect(await referee.tool("start_game", { ...players, ...match })).toMatchObject({ status: "ACCEPTED" });
  const { payload } = await referee.waitFor("manager", "MATCH_RESULT", "F1");
  expect(payload).toMatchObject({ winner: "P01", faults: [] });
  const invitations = [
    await referee.waitFor("P01", "GAME_INVITE", "F1"),
    await referee.waitFor("P02", "GAME_INVITE", "F1"),
  ];
  const tokens = invitations.map(({ bytes }) => /"auth_token":"([^"]*)"/.exec(bytes)?.[1]);
  expect(tokens).toEqual([expect.stringMatching(/^[\w-]{43}$/), expect.stringMatching(/^[\w-]{43}$/)]);
  expect(new Set(tokens).size).toBe(2);
});

it("an order with the same match token for two players is rejected", async () => {
  const referee = await startTestReferee();
  ends.push(() => referee.stop());
  const { roles } = referee.order();
  const sameTokens = Object.entries(roles).map(([role, player]) => [role, { ...player, match_token: "" }]);
  const rejected = await referee.begin({ roles: Object.fromEntries(sameTokens) });
  expect(rejected).toMatchObject({ isError: true, payload: { error_code: "G003" } });
  expect(rejected.payload.message).toContain("token");
});

it("the answer of a player without a token is not changed in its fault", async () => {
  const league = await startTestLeague();
  ends.push(() => league.close());
  const peers = createPeers({ clock: systemClock });
  ends.push(() => peers.close());
  const endpoint = league.order().roles.player_1?.endpoint ?? "";
  const player = {
    playerId: "P01",
    role: "player_1",
    endpoint,
    matchToken: "",
    signal: new AbortController().signal,
    wantsLegalActions: false,
    wantsRoundResults: false,
    moveMs: 20_000,
  };
  const asker = createAsker(peers, () => "referee:REF01", systemClock, systemIds);
  const reply = await asker.requestMove(player, { match_id: "R1M1", tick: 0 }, 20_000);
  const raw = reply.kind === "move" ? reply.raw() : "";
  const fault = { code: "G001", cause: "illegal_move", detail: "illegal move: not today", raw } as const;
  expect(publishedFault(fault, player.matchToken)).toEqual(fault);
  expect(raw).toContain('"rock"');
});

describe("a match token", () => {
  const stateFor = (referee: TestReferee, auth_token: string) =>
    referee.tool("get_game_state", { match_id: "R1M1", auth_token });

  it("shows the view of its player during and after the match, and a token of another match the view of a spectator", async () => {
    const answer = Promise.withResolvers<null>();
    const referee = await startTestReferee({ move: ({ to }) => (to === "P02" ? answer.promise : null) });
    ends.push(() => referee.stop());
    await referee.begin();
    await referee.waitFor("P02", "MOVE_REQUEST");
    const [ownToken, otherToken] = [tokenOf("P01", "R1M1"), tokenOf("P01", "R1M2")];
    await vi.waitFor(
      async () => expect((await stateFor(referee, ownToken)).state.choices).toMatchObject({ player_1: "rock" }),
      WAIT_OPTIONS,
    );
    expect(await stateFor(referee, ownToken)).toMatchObject({ your_role: "player_1", status: "active" });
    expect(await stateFor(referee, otherToken)).not.toHaveProperty("your_role");
    answer.resolve(null);
    await referee.waitFor("P01", "GAME_RESULT");
    expect(await stateFor(referee, ownToken)).toMatchObject({ your_role: "player_1", status: "completed" });
    expect(await stateFor(referee, otherToken)).not.toHaveProperty("your_role");
  });

  it("is exempt from the rate limit, and an invalid token is not", async () => {
    const answer = Promise.withResolvers<null>();
    const referee = await startTestReferee({ move: () => answer.promise }, true);
    ends.push(() => referee.stop());
    await referee.begin();
    await referee.waitFor("P02", "MOVE_REQUEST");
    // The limit is 50 requests per minute.
    for (let count = 0; count < 50; count++) await stateFor(referee, "made up");
    expect(await stateFor(referee, "made up")).toMatchObject({ code: -32000 });
    expect(await stateFor(referee, tokenOf("P02", "R1M1"))).toMatchObject({ your_role: "player_2" });
    answer.resolve(null);
  });
});
