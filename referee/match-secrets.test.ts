import { afterEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { clients } from "#shared/rpc/testing/mcp-clients.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { MATCH_SCHEMA, matchTable } from "./match/match-table.ts";
import { createReferee } from "./referee.ts";
import { createHost, type SessionHost } from "./sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "./sessions/session-store.ts";
import {
  type Heard,
  type Others,
  seedOf,
  startOthers,
  startTable,
  type Table,
  TOKEN,
  testDriver,
  tokenOf,
} from "./testing/match.ts";

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A table at which R1M1 is held back: each player answers there once it is let go. */
async function heldTable(held: readonly Heard["to"][]) {
  const letGo = { P01: Promise.withResolvers<void>(), P02: Promise.withResolvers<void>() };
  const isHeld = ({ to, payload }: Heard): boolean => payload.match_id === "R1M1" && held.includes(to);
  const table = await startTable({
    move: async (asked) => {
      if (isHeld(asked) && asked.to !== "manager") await letGo[asked.to].promise;
      return null;
    },
  });
  ends.push(() => table.stop());
  ends.push(() => void [letGo.P01, letGo.P02].map(({ resolve }) => resolve()));
  return { table, letGo };
}

/** Waits until P01's choice is on disk while P02 is being asked. */
const halfTurn = (table: Table): Promise<void> =>
  vi.waitFor(
    async () => {
      const own = await table.tool("get_game_state", { match_id: "R1M1", auth_token: tokenOf("P01", "R1M1") });
      expect(own).toMatchObject({ state: { choices: { player_1: "rock", player_2: null } } });
    },
    { timeout: 10_000 },
  );

describe("a choice of an open turn", () => {
  it("is told to nobody with a wrong token or another match's", async () => {
    const { table } = await heldTable(["P02"]);
    const { payload } = await table.begin();
    await halfTurn(table);
    for (const seat_token of ["wrong", "", TOKEN, tokenOf("P01", "R1M2"), undefined]) {
      const args = { game_id: payload.session_id, ...(seat_token !== undefined && { seat_token }) };
      const answer = await table.call("tools/call", { name: "waitForNextTurn", arguments: args });
      expect(answer.result, `token ${seat_token}`).toMatchObject({ isError: true });
      expect(JSON.stringify(answer)).not.toMatch(/rock|choices/);
    }
    for (const auth_token of ["wrong", TOKEN, tokenOf("P01", "R1M2")]) {
      const seen = await table.tool("get_game_state", { match_id: "R1M1", auth_token });
      expect(seen).toMatchObject({ status: "active", state: { choices: { player_1: null } } });
      expect(seen).not.toHaveProperty("your_role");
    }
  });

  it.each(["2025-11-25", "2026-07-28"])(
    "makes no update of the match's state, until the turn closes (MCP %s)",
    async (revision) => {
      const { table, letGo } = await heldTable(["P01", "P02"]);
      await table.begin();
      for (const player of ["P01", "P02"] as const) await table.told(player, "MOVE_REQUEST");
      const client = await clients[revision]?.(table.url);
      if (!client) throw new Error("no client");
      ends.push(() => client.close());
      await client.subscribe(["game://state/R1M1", "game://state/rps/R1M1", "game://state/R1M2"]);
      letGo.P01.resolve();
      await halfTurn(table);
      // News come in order: what is told of another match comes after what would have been told of this one.
      await table.begin({ match_id: "R1M2" });
      await vi.waitFor(() => expect(client.updated).toContain("game://state/R1M2"), { timeout: 10_000 });
      expect(client.updated.filter((uri) => uri.endsWith("R1M1"))).toEqual([]);
      letGo.P02.resolve();
      await vi.waitFor(
        () => expect(client.updated).toEqual(expect.arrayContaining(["game://state/R1M1", "game://state/rps/R1M1"])),
        { timeout: 10_000 },
      );
    },
  );
});

/** By the end of another match the players would long have been told of R1M1; what they were told of it must not hold its seed. */
async function expectNoSeed(others: Others, begin: (matchId: string) => unknown): Promise<void> {
  await begin("R1M2");
  for (const player of ["P01", "P02"] as const) {
    expect((await others.told(player, "GAME_RESULT", "R1M2")).bytes).toContain(seedOf("R1M2"));
  }
  const told = others.heard.filter(({ to }) => to !== "manager");
  expect(told.filter(({ type, payload }) => type === "GAME_RESULT" && payload.match_id === "R1M1")).toEqual([]);
  expect(told.map(({ bytes }) => bytes).join("\n")).not.toContain(seedOf("R1M1"));
}

describe("the seed of a match that may be played again", () => {
  it("is not sent when the manager finally rejects the result and the order has no run_id", async () => {
    const refusal = { error_code: "L004", message: "not yours", retryable: false };
    const result = ({ payload }: Heard) =>
      payload.match_id === "R1M1" ? newEnvelope("LEAGUE_ERROR", "league_manager:LM01", refusal) : null;
    const table = await startTable({ result });
    ends.push(() => table.stop());
    await table.begin();
    expect((await table.told("manager", "MATCH_RESULT")).payload).toMatchObject({ termination: "normal" });
    await expectNoSeed(table, (match_id) => table.begin({ match_id }));
    expect(
      table.heard.filter(({ type, payload }) => type === "MATCH_RESULT" && payload.match_id === "R1M1"),
    ).toHaveLength(1);
  });

  it("is not told when the match ends through the referee's own fault", async () => {
    const others = await startOthers();
    ends.push(() => others.close());
    const db = openSqlite(":memory:", SESSION_SCHEMA + MATCH_SCHEMA);
    const peers = createPeers({ clock: systemClock });
    ends.push(() => peers.close());
    const host = createHost(sessionStore(db, testWriter(db)), systemClock, systemIds);
    const failing = new Set<string>();
    const failingHost: SessionHost = {
      ...host,
      async submit(id, submission) {
        if (failing.has(id)) throw new Error("the disk is full");
        return host.submit(id, submission);
      },
      async create(options) {
        const session = await host.create(options);
        if (options.seed === seedOf("R1M1")) failing.add(session.id);
        return session;
      },
    };
    const referee = createReferee({
      ...{ driver: testDriver(failingHost, peers), matches: matchTable(db, testWriter(db)), peers },
      ...{ log: openLog(null, "referee"), manager: others.manager, reportTimeoutMs: 10_000 },
      identity: { id: "REF01", token: TOKEN },
    });
    ends.push(() => referee.stop());
    await referee.start(others.order());
    const { payload } = await others.told("manager", "MATCH_RESULT");
    expect(payload).toMatchObject({ termination: "aborted", winner: null, faults: [] });
    expect(JSON.stringify(payload)).not.toContain("the disk is full");
    await expectNoSeed(others, (match_id) => referee.start(others.order({ match_id })));
  });
});
