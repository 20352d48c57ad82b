import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createHost } from "../sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
import { startTestLeague, TOKEN, testDriver } from "../testing/match.ts";
import { MATCH_SCHEMA, matchTable } from "./match-table.ts";
import { IN_ORDER_WITHIN_MS } from "./player-messages.ts";
import { createReferee } from "./referee.ts";

const isNotification = (type: string): boolean => type !== "GAME_INVITE" && type !== "MOVE_REQUEST";

/**
 * Starts a match of two rounds with a clock that stands still. P02 answers several messages at the same time, and answers notifications when `held`
 * has resolved. `events` lists what P02 has received and the notifications that it has answered.
 */
async function startMatch(held: Promise<void>) {
  const events: string[] = [];
  const league = await startTestLeague({
    async player({ to, type }) {
      if (to === "P02") events.push(type);
      if (to === "P02" && isNotification(type)) {
        await held;
        events.push(`answer to ${type}`);
      }
      return null as never;
    },
  });
  const [db, clock] = [openSqlite(":memory:", SESSION_SCHEMA + MATCH_SCHEMA), manualClock()];
  const peers = createPeers({ clock: systemClock });
  const writer = testWriter(db);
  const referee = createReferee({
    driver: testDriver(createHost(sessionStore(db, writer), clock, systemIds), peers, clock),
    matches: matchTable(db, writer),
    peers,
    log: openLog(null, "referee"),
    manager: league.manager,
    reportTimeoutMs: 10_000,
    identity: { id: "REF01", token: TOKEN },
  });
  onTestFinished(async () => {
    await referee.stop();
    await peers.close();
    league.close();
  });
  const timeouts = { join_ms: 60_000, move_ms: 60_000, game_over_ms: 60_000 };
  await referee.start(league.order({ run_id: "run", options: { best_of: 3 }, timeouts }));
  await league.waitFor("P02", "GAME_START");
  // P01 has answered GAME_START and receives its request while P02 has not.
  await league.waitFor("P01", "MOVE_REQUEST");
  return { league, clock, events };
}

test("a player receives each message about a match after it has answered the notifications before", async () => {
  const held = Promise.withResolvers<void>();
  const { league, clock, events } = await startMatch(held.promise);
  await vi.waitFor(() => expect(clock.timers()).toBe(1), WAIT_OPTIONS);
  expect(events).toEqual(["GAME_INVITE", "GAME_START"]);
  held.resolve();
  await league.waitFor("manager", "MATCH_RESULT");
  expect(events).toEqual([
    "GAME_INVITE",
    "GAME_START",
    "answer to GAME_START",
    "MOVE_REQUEST",
    "ROUND_RESULT",
    "answer to ROUND_RESULT",
    "MOVE_REQUEST",
    "ROUND_RESULT",
    "answer to ROUND_RESULT",
    "GAME_RESULT",
    "answer to GAME_RESULT",
  ]);
});

test("a player that does not answer a notification delays its match once by 250 ms, which are not part of its time", async () => {
  const { league, clock, events } = await startMatch(new Promise(() => {}));
  await vi.waitFor(() => expect(clock.timers()).toBe(1), WAIT_OPTIONS);
  await clock.advance(IN_ORDER_WITHIN_MS - 1);
  expect(events).toEqual(["GAME_INVITE", "GAME_START"]);
  await clock.advance(1);
  const { payload } = await league.waitFor("P02", "MOVE_REQUEST");
  expect(payload.time_limit_seconds).toBe(60);
  await league.waitFor("P02", "GAME_RESULT");
  const types = ["GAME_INVITE", "GAME_START", "MOVE_REQUEST", "ROUND_RESULT", "MOVE_REQUEST", "ROUND_RESULT"];
  expect([...events].sort()).toEqual([...types, "GAME_RESULT"].sort());
});
