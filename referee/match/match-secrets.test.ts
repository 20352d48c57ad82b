import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createHost, type SessionHost } from "../sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
import {
  type ReceivedMessage,
  seedOf,
  startTestLeague,
  startTestReferee,
  type TestLeague,
  TOKEN,
  testDriver,
} from "../testing/match.ts";
import { MATCH_SCHEMA, matchTable } from "./match-table.ts";
import { createReferee } from "./referee.ts";

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
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
      driver: testDriver(failingHost, peers),
      matches: matchTable(db, testWriter(db)),
      peers,
      log: openLog(null, "referee"),
      manager: league.manager,
      reportTimeoutMs: 10_000,
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
