import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { PATIENCE } from "#shared/lib/testing/patience.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createReferee } from "../referee.ts";
import { createHost } from "../sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
import { signed, startOthers, startTable, type Table, TOKEN, testDriver, tokenOf } from "../testing/match.ts";
import { createAsker } from "./ask.ts";
import { publishedFault } from "./ask-fault.ts";
import { MATCH_SCHEMA, matchTable } from "./match-table.ts";

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

it("a player that always answers illegally is asked three times, and told from the second on what was wrong", async () => {
  const table = await startTable({ move: ({ to }) => (to === "P02" ? "lizard" : null) });
  ends.push(() => table.stop());
  await table.begin();
  const { payload } = await table.told("manager", "MATCH_RESULT");
  expect(payload).toMatchObject({ termination: "forfeit", winner: "P01" });
  expect(payload.faults).toMatchObject([{ player_id: "P02", code: "G001", cause: "illegal_move" }]);
  const asked = table.heard.filter(({ to, type }) => to === "P02" && type === "MOVE_REQUEST");
  const wrong = { error_code: "G001", message: expect.stringContaining("illegal move: "), retryable: true };
  expect(asked.map((one) => one.payload.error ?? null)).toEqual([
    null,
    expect.objectContaining(wrong),
    expect.objectContaining(wrong),
  ]);
  expect(new Set(asked.map((one) => one.payload.tick))).toEqual(new Set([0]));
  expect(table.heard.filter(({ to, type }) => to === "P01" && type === "MOVE_REQUEST")).toHaveLength(1);
});

it("a player's fault is in the referee's log with code, reason, player and match, and without tokens", async () => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const table = await startTable({ move: ({ to }) => (to === "P02" ? "lizard" : null) }, false, log);
  ends.push(() => table.stop());
  await table.begin();
  await table.told("manager", "MATCH_RESULT");
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

it("of a refused connection the referee's log has the address, and the manager and the players are not sent it", async () => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const table = await startTable({}, false, log);
  ends.push(() => table.stop());
  const { roles } = table.order();
  // No program may listen on port 1.
  const gone = { ...roles.player_2, endpoint: "http://127.0.0.1:1/mcp" };
  await table.begin({
    roles: { ...roles, player_2: gone },
    timeouts: { join_ms: 200, move_ms: 200, game_over_ms: 200 },
  });
  const { payload } = await table.told("manager", "MATCH_RESULT");
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
  const aboutMatch = table.heard.map((one) => one.payload).filter(({ match_id }) => match_id === "R1M1");
  expect(JSON.stringify(aboutMatch)).not.toMatch(/127\.0\.0\.1|ECONN/);
});

it("an order that comes while a referee stops is nobody's forfeit: it is played when the referee is started anew", async () => {
  const others = await startOthers();
  ends.push(() => others.close());
  const folder = mkdtempSync(join(tmpdir(), "asking-"));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const open = () => {
    const db = openSqlite(join(folder, "referee.sqlite"), SESSION_SCHEMA + MATCH_SCHEMA);
    const peers = createPeers({ clock: systemClock });
    const referee = createReferee({
      driver: testDriver(createHost(sessionStore(db, testWriter(db)), systemClock, systemIds), peers),
      ...{ matches: matchTable(db, testWriter(db)), peers },
      ...{ log: openLog(null, "referee"), manager: others.manager, reportTimeoutMs: 10_000 },
      identity: { id: "REF01", token: TOKEN },
    });
    ends.push(async () => {
      await referee.stop();
      await peers.close();
      if (db.isOpen) db.close();
    });
    return { db, peers, referee, entries: () => db.prepare("SELECT type FROM log ORDER BY seq").all() };
  };
  const order = others.order();
  const first = open();
  // In the order in which the service stops its parts.
  await first.referee.stop();
  const started = await first.referee.start(order);
  await first.peers.close();
  await vi.waitFor(() => expect(first.referee.running()).toEqual([]), { timeout: 10_000 });
  expect(first.entries().map(({ type }) => type)).toEqual(["created"]);
  expect(others.heard).toEqual([]);
  first.db.close();

  const second = open();
  expect(await second.referee.start(order)).toEqual(started);
  const { payload } = await others.told("manager", "MATCH_RESULT");
  expect(payload).toMatchObject({ termination: "normal", winner: "P01", epoch: 1, faults: [] });
});

it("a match that is started with plain arguments needs no tokens: each player is drawn one of its own", async () => {
  const table = await startTable();
  ends.push(() => table.stop());
  const { player_1, player_2 } = table.order().roles;
  const players = {
    ...{ player1_id: "P01", player1_endpoint: player_1?.endpoint },
    ...{ player2_id: "P02", player2_endpoint: player_2?.endpoint, player2_token: "" },
  };
  const match = { match_id: "F1", game: "rps.v1", seed: "seed", auth_token: signed("friendly/F1") };
  expect(await table.tool("start_game", { ...players, ...match })).toMatchObject({ status: "ACCEPTED" });
  const { payload } = await table.told("manager", "MATCH_RESULT", "F1");
  expect(payload).toMatchObject({ winner: "P01", faults: [] });
  const told = [await table.told("P01", "GAME_INVITE", "F1"), await table.told("P02", "GAME_INVITE", "F1")];
  const tokens = told.map(({ bytes }) => /"auth_token":"([^"]*)"/.exec(bytes)?.[1]);
  expect(tokens).toEqual([expect.stringMatching(/^[\w-]{43}$/), expect.stringMatching(/^[\w-]{43}$/)]);
  expect(new Set(tokens).size).toBe(2);
});

it("two players with one token are refused: whoever holds it would be both", async () => {
  const table = await startTable();
  ends.push(() => table.stop());
  const { roles } = table.order();
  const alike = Object.entries(roles).map(([role, player]) => [role, { ...player, match_token: "" }]);
  const refused = await table.begin({ roles: Object.fromEntries(alike) });
  expect(refused).toMatchObject({ isError: true, payload: { error_code: "G003" } });
  expect(refused.payload.message).toContain("token");
});

it("what a player without a token said is told as it said it", async () => {
  const others = await startOthers();
  ends.push(() => others.close());
  const peers = createPeers({ clock: systemClock });
  ends.push(() => peers.close());
  const endpoint = others.order().roles.player_1?.endpoint ?? "";
  const player = {
    ...{ playerId: "P01", role: "player_1", endpoint, matchToken: "", signal: new AbortController().signal },
    ...{ wantsLegalActions: false, wantsRoundResults: false, takesBatches: false },
  };
  const asker = createAsker(peers, () => "referee:REF01", systemClock, systemIds);
  const reply = await asker.requestMove(player, { match_id: "R1M1", tick: 0 }, 20_000);
  const raw = reply.kind === "move" ? reply.raw() : "";
  const fault = { code: "G001", cause: "illegal_move", detail: "illegal move: not today", raw } as const;
  expect(publishedFault(fault, player.matchToken)).toEqual(fault);
  expect(raw).toContain('"rock"');
});

describe("the token of a match's seat", () => {
  const look = (table: Table, auth_token: string) => table.tool("get_game_state", { match_id: "R1M1", auth_token });

  it("shows the match as its player sees it, to the end and after it; a stranger's shows what anyone sees", async () => {
    const held = Promise.withResolvers<null>();
    const table = await startTable({ move: ({ to }) => (to === "P02" ? held.promise : null) });
    ends.push(() => table.stop());
    await table.begin();
    await table.told("P02", "MOVE_REQUEST");
    const [mine, other] = [tokenOf("P01", "R1M1"), tokenOf("P01", "R1M2")];
    await vi.waitFor(
      async () => expect((await look(table, mine)).state.choices).toMatchObject({ player_1: "rock" }),
      PATIENCE,
    );
    expect(await look(table, mine)).toMatchObject({ your_role: "player_1", status: "active" });
    expect(await look(table, other)).not.toHaveProperty("your_role");
    held.resolve(null);
    await table.told("P01", "GAME_RESULT");
    expect(await look(table, mine)).toMatchObject({ your_role: "player_1", status: "completed" });
    expect(await look(table, other)).not.toHaveProperty("your_role");
  });

  it("is held to no rate limit, as a made-up one is", async () => {
    const held = Promise.withResolvers<null>();
    const table = await startTable({ move: () => held.promise }, true);
    ends.push(() => table.stop());
    await table.begin();
    await table.told("P02", "MOVE_REQUEST");
    // 50 a minute pass.
    for (let time = 0; time < 50; time++) await look(table, "made up");
    expect(await look(table, "made up")).toMatchObject({ code: -32000 });
    expect(await look(table, tokenOf("P02", "R1M1"))).toMatchObject({ your_role: "player_2" });
    held.resolve(null);
  });
});
