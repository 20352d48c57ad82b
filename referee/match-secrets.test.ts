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
  type ReceivedMessage,
  seedOf,
  startTestLeague,
  startTestReferee,
  type TestLeague,
  type TestReferee,
  TOKEN,
  testDriver,
  tokenOf,
} from "./testing/match.ts";

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Starts a referee. Each player of `waiting` answers its move request in R1M1 when its `mayAnswer` is resolved. */
async function startWaiting(waiting: readonly ReceivedMessage["to"][]) {
  const mayAnswer = { P01: Promise.withResolvers<void>(), P02: Promise.withResolvers<void>() };
  const isWaiting = ({ to, payload }: ReceivedMessage): boolean => payload.match_id === "R1M1" && waiting.includes(to);
  const referee = await startTestReferee({
    move: async (request) => {
      if (isWaiting(request) && request.to !== "manager") await mayAnswer[request.to].promise;
      return null;
    },
  });
  ends.push(() => referee.stop());
  ends.push(() => void [mayAnswer.P01, mayAnswer.P02].map(({ resolve }) => resolve()));
  return { referee, mayAnswer };
}

/** Waits until the choice of P01 is on disk. The request to P02 is open. */
const halfTurn = (referee: TestReferee): Promise<void> =>
  vi.waitFor(
    async () => {
      const own = await referee.tool("get_game_state", { match_id: "R1M1", auth_token: tokenOf("P01", "R1M1") });
      expect(own).toMatchObject({ state: { choices: { player_1: "rock", player_2: null } } });
    },
    { timeout: 10_000 },
  );

describe("a choice of an open turn", () => {
  it("is not shown to callers with a wrong token or the token of another match", async () => {
    const { referee } = await startWaiting(["P02"]);
    const { payload } = await referee.begin();
    await halfTurn(referee);
    for (const seat_token of ["wrong", "", TOKEN, tokenOf("P01", "R1M2"), undefined]) {
      const args = { game_id: payload.session_id, ...(seat_token !== undefined && { seat_token }) };
      const answer = await referee.call("tools/call", { name: "waitForNextTurn", arguments: args });
      expect(answer.result, `token ${seat_token}`).toMatchObject({ isError: true });
      expect(JSON.stringify(answer)).not.toMatch(/rock|choices/);
    }
    for (const auth_token of ["wrong", TOKEN, tokenOf("P01", "R1M2")]) {
      const gameState = await referee.tool("get_game_state", { match_id: "R1M1", auth_token });
      expect(gameState).toMatchObject({ status: "active", state: { choices: { player_1: null } } });
      expect(gameState).not.toHaveProperty("your_role");
    }
  });

  it.each(["2025-11-25", "2026-07-28"])(
    "causes no update notification until the turn is closed (MCP %s)",
    async (revision) => {
      const { referee, mayAnswer } = await startWaiting(["P01", "P02"]);
      await referee.begin();
      for (const player of ["P01", "P02"] as const) await referee.waitFor(player, "MOVE_REQUEST");
      const client = await clients[revision]?.(referee.url);
      if (!client) throw new Error("no client");
      ends.push(() => client.close());
      await client.subscribe(["game://state/R1M1", "game://state/rps/R1M1", "game://state/R1M2"]);
      mayAnswer.P01.resolve();
      await halfTurn(referee);
      // Notifications arrive in order, so one about R1M1 would arrive before this one about R1M2.
      await referee.begin({ match_id: "R1M2" });
      await vi.waitFor(() => expect(client.updated).toContain("game://state/R1M2"), { timeout: 10_000 });
      expect(client.updated.filter((uri) => uri.endsWith("R1M1"))).toEqual([]);
      mayAnswer.P02.resolve();
      await vi.waitFor(
        () => expect(client.updated).toEqual(expect.arrayContaining(["game://state/R1M1", "game://state/rps/R1M1"])),
        { timeout: 10_000 },
      );
    },
  );
});

/**
 * Plays R1M2 to its end, by which time a GAME_RESULT of R1M1 would have arrived, and expects that the players have received neither that
 * result nor the seed of R1M1.
 */
async function expectNoSeed(league: TestLeague, begin: (matchId: string) => unknown): Promise<void> {
  await begin("R1M2");
  for (const player of ["P01", "P02"] as const) {
    expect((await league.waitFor(player, "GAME_RESULT", "R1M2")).bytes).toContain(seedOf("R1M2"));
  }
  const messages = league.received.filter(({ to }) => to !== "manager");
  expect(messages.filter(({ type, payload }) => type === "GAME_RESULT" && payload.match_id === "R1M1")).toEqual([]);
  expect(messages.map(({ bytes }) => bytes).join("\n")).not.toContain(seedOf("R1M1"));
}

describe("the seed of a match that may be played again", () => {
  it("is not sent when the manager finally rejects the result and the order has no run_id", async () => {
    const rejection = { error_code: "L004", message: "not yours", retryable: false };
    const result = ({ payload }: ReceivedMessage) =>
      payload.match_id === "R1M1" ? newEnvelope("LEAGUE_ERROR", "league_manager:LM01", rejection) : null;
    const referee = await startTestReferee({ result });
    ends.push(() => referee.stop());
    await referee.begin();
    expect((await referee.waitFor("manager", "MATCH_RESULT")).payload).toMatchObject({ termination: "normal" });
    await expectNoSeed(referee, (match_id) => referee.begin({ match_id }));
    expect(
      referee.received.filter(({ type, payload }) => type === "MATCH_RESULT" && payload.match_id === "R1M1"),
    ).toHaveLength(1);
  });

  it("is not sent when the match ends by a fault of the referee", async () => {
    const league = await startTestLeague();
    ends.push(() => league.close());
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
      ...{ log: openLog(null, "referee"), manager: league.manager, reportTimeoutMs: 10_000 },
      identity: { id: "REF01", token: TOKEN },
    });
    ends.push(() => referee.stop());
    await referee.start(league.order());
    const { payload } = await league.waitFor("manager", "MATCH_RESULT");
    expect(payload).toMatchObject({ termination: "aborted", winner: null, faults: [] });
    expect(JSON.stringify(payload)).not.toContain("the disk is full");
    await expectNoSeed(league, (match_id) => referee.start(league.order({ match_id })));
  });
});
