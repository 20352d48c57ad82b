import { createServer } from "node:http";
import type { DatabaseSync } from "node:sqlite";
import { pino } from "pino";
import { afterEach, expect, it, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { type Logger, openLog } from "#shared/runtime/process/logger.ts";
import type { KeptRegistration } from "#shared/runtime/registration.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createHost } from "../sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
import { type ReceivedMessage, startTestLeague, type TestLeague, TOKEN, testDriver } from "../testing/match.ts";
import { MATCH_SCHEMA, matchTable } from "./match-table.ts";
import { createReferee } from "./referee.ts";
import { ACKNOWLEDGE_WITHIN_MS } from "./report-result.ts";

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Given {
  readonly manager?: string;
  readonly log?: Logger;
  readonly kept?: KeptRegistration;
}

/** A referee with a manual clock. */
function refereeOn(
  db: DatabaseSync,
  league: TestLeague,
  clock: ManualClock,
  { manager = league.manager, log = openLog(null, "referee"), kept }: Given = {},
) {
  const peers = createPeers({ clock: systemClock });
  const referee = createReferee({
    driver: testDriver(createHost(sessionStore(db, testWriter(db)), clock, systemIds), peers, clock),
    matches: matchTable(db, testWriter(db)),
    peers,
    log,
    manager,
    reportTimeoutMs: 10_000,
    identity: { id: "REF01", token: TOKEN, ...(kept && { kept }) },
  });
  const stop = async (): Promise<void> => {
    await referee.stop();
    await peers.close();
  };
  ends.push(stop);
  const timeouts = { join_ms: 60_000, move_ms: 60_000, game_over_ms: 60_000 };
  return { start: () => referee.start(league.order({ run_id: "run", timeouts })), running: referee.running, stop };
}

/** Starts a match whose player P02 acknowledges GAME_RESULT when `acknowledge` is called. `events` lists the messages about its end in order. */
async function startMatch() {
  const acknowledged = Promise.withResolvers<void>();
  const events: string[] = [];
  const league = await startTestLeague({
    async player({ to, type }: ReceivedMessage) {
      if (type !== "GAME_RESULT") return null as never;
      if (to === "P02") await acknowledged.promise;
      events.push(`${to} acknowledges GAME_RESULT`);
      return null as never;
    },
    result: () => {
      events.push("manager receives MATCH_RESULT");
      return null;
    },
  });
  ends.push(() => league.close());
  const [db, clock] = [openSqlite(":memory:", SESSION_SCHEMA + MATCH_SCHEMA), manualClock()];
  const referee = refereeOn(db, league, clock);
  await referee.start();
  const delivered = await league.waitFor("P02", "GAME_RESULT");
  await vi.waitFor(() => expect(events).toEqual(["P01 acknowledges GAME_RESULT"]), WAIT_OPTIONS);
  return { league, db, clock, referee, events, delivered, acknowledge: acknowledged.resolve };
}

it("the manager receives MATCH_RESULT after the players have acknowledged GAME_RESULT", async () => {
  const { league, events, acknowledge } = await startMatch();
  acknowledge();
  await league.waitFor("manager", "MATCH_RESULT");
  expect(events).toEqual([
    "P01 acknowledges GAME_RESULT",
    "P02 acknowledges GAME_RESULT",
    "manager receives MATCH_RESULT",
  ]);
});

it("a player that is slow to acknowledge GAME_RESULT does not delay MATCH_RESULT, and its delivery continues", async () => {
  const { league, clock, referee, events, delivered, acknowledge } = await startMatch();
  await clock.advance(ACKNOWLEDGE_WITHIN_MS);
  await league.waitFor("manager", "MATCH_RESULT");
  await vi.waitFor(() => expect(referee.running()).toEqual([]), WAIT_OPTIONS);
  expect(clock.timers()).toBe(0);
  const closed = delivered.closed.then(() => events.push("GAME_RESULT to P02 is closed"));
  acknowledge();
  await closed;
  expect(events).toEqual([
    "P01 acknowledges GAME_RESULT",
    "manager receives MATCH_RESULT",
    "P02 acknowledges GAME_RESULT",
    "GAME_RESULT to P02 is closed",
  ]);
});

it("a referee that stops between GAME_RESULT and MATCH_RESULT reports the result when it is started again", async () => {
  const { league, db, clock, referee, events } = await startMatch();
  await referee.stop();
  await vi.waitFor(() => expect(referee.running()).toEqual([]), WAIT_OPTIONS);
  expect(events).not.toContain("manager receives MATCH_RESULT");
  const again = refereeOn(db, league, clock);
  await again.start();
  await vi.waitFor(() => expect(clock.timers()).toBe(1), WAIT_OPTIONS);
  await clock.advance(ACKNOWLEDGE_WITHIN_MS);
  const { payload } = await league.waitFor("manager", "MATCH_RESULT");
  expect(payload).toMatchObject({ termination: "normal", winner: "P01", epoch: 1, faults: [] });
  expect(league.received.filter(({ to, type }) => to === "P01" && type === "MOVE_REQUEST")).toHaveLength(1);
});

/** Starts a proxy that answers with a page until `fix` is called, and then forwards requests to the manager. */
async function startProxy(status: number, page: string, manager: string) {
  let answered = 0;
  let isMended = false;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    if (!isMended) response.writeHead(status, { "content-type": "text/html" }).end(page);
    else {
      const headers = { "content-type": "application/json" };
      response.end(await (await fetch(manager, { method: "POST", headers, body })).text());
    }
    answered++;
  });
  const port = await listenOnLoopback(server);
  ends.push(() => void server.close().closeAllConnections());
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    answered: () => answered,
    fix: () => {
      isMended = true;
    },
  };
}

it.each([
  [413, "<html>Request Entity Too Large</html>"],
  [200, "<html>Welcome</html>"],
])(
  "a result that a proxy answers with HTTP %i and a page is sent again after growing pauses and logged, until it is recorded",
  async (status, page) => {
    const league = await startTestLeague();
    ends.push(() => league.close());
    const proxy = await startProxy(status, page, league.manager);
    const [db, clock] = [openSqlite(":memory:", SESSION_SCHEMA + MATCH_SCHEMA), manualClock()];
    const lines: string[] = [];
    const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
    const referee = refereeOn(db, league, clock, { manager: proxy.url, log });
    await referee.start();
    const pauses = [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 60_000, 60_000];
    for (const [index, pauseMs] of pauses.entries()) {
      await vi.waitFor(() => expect([proxy.answered(), clock.timers()]).toEqual([index + 1, 1]), WAIT_OPTIONS);
      await clock.advance(pauseMs - 1);
      expect(clock.timers(), `pause ${index}`).toBe(1);
      if (index === pauses.length - 1) proxy.fix();
      await clock.advance(1);
    }
    await league.waitFor("manager", "MATCH_RESULT");
    await vi.waitFor(() => expect(referee.running()).toEqual([]), WAIT_OPTIONS);
    const errors = lines.map((line) => JSON.parse(line)).filter(({ msg }) => /not recorded/.test(msg));
    expect(errors).toHaveLength(3);
    expect(errors[0]).toMatchObject({ match: "rps/R1M1", manager: proxy.url, answer: page });
  },
);

it("a result is sent again every two seconds to a manager that does not answer, and nothing is logged", async () => {
  const league = await startTestLeague();
  ends.push(() => league.close());
  const proxy = await startProxy(502, "<html>Bad Gateway</html>", league.manager);
  const [db, clock] = [openSqlite(":memory:", SESSION_SCHEMA + MATCH_SCHEMA), manualClock()];
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const referee = refereeOn(db, league, clock, { manager: proxy.url, log });
  await referee.start();
  for (const [index, pauseMs] of [100, 200, 400, 800, 1_600, 2_000, 2_000].entries()) {
    await vi.waitFor(() => expect([proxy.answered(), clock.timers()]).toEqual([index + 1, 1]), WAIT_OPTIONS);
    await clock.advance(pauseMs);
  }
  await vi.waitFor(() => expect(proxy.answered()).toBe(8), WAIT_OPTIONS);
  expect(lines).toEqual([]);
});

it.each([
  ["sends a result again after it has registered again", true, 2],
  ["does not repeat a rejected result while it is registered", false, 1],
])("a referee %s", async (_, isForgotten, expected) => {
  let isUnknown = true;
  let renewals = 0;
  const rejection = { error_code: "L004", message: "only a registered referee can report", retryable: false };
  const league = await startTestLeague({
    result: () => (isUnknown ? newEnvelope("LEAGUE_ERROR", "league_manager:LM01", rejection) : null),
  });
  ends.push(() => league.close());
  const renew = async (): Promise<void> => {
    isUnknown = !isForgotten;
    if (isForgotten) renewals++;
  };
  const [db, clock] = [openSqlite(":memory:", SESSION_SCHEMA + MATCH_SCHEMA), manualClock()];
  const referee = refereeOn(db, league, clock, { kept: { renew, renewals: () => renewals } });
  await referee.start();
  await vi.waitFor(() => expect(referee.running()).toEqual([]), WAIT_OPTIONS);
  expect(league.received.filter(({ type }) => type === "MATCH_RESULT")).toHaveLength(expected);
});
