import { afterEach, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { createPeers, type Peers } from "#shared/rpc/peer/peer.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createHost } from "../sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
import { startTestLeague, TOKEN, testDriver } from "../testing/match.ts";
import { MATCH_SCHEMA, matchTable } from "./match-table.ts";
import { createReferee } from "./referee.ts";

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Plays a match with P01, which offers a WebSocket, and P02. Returns the endpoints that were called over a WebSocket, and all others. */
async function playMatch(managerOffersWebSocket: boolean) {
  const calls = { overSockets: new Set<string>(), posted: new Set<string>() };
  const inner = createPeers({ clock: systemClock });
  const recorded = (endpoint: string, isOverSocket = false): void =>
    void calls[isOverSocket ? "overSockets" : "posted"].add(endpoint);
  const peers: Peers = {
    ...inner,
    message(endpoint, envelope, { socket, ...options }) {
      recorded(endpoint, socket);
      return inner.message(endpoint, envelope, options);
    },
    notify(endpoint, envelope, { socket, ...options }) {
      recorded(endpoint, socket);
      return inner.notify(endpoint, envelope, options);
    },
  };
  const db = openSqlite(":memory:", SESSION_SCHEMA + MATCH_SCHEMA);
  const league = await startTestLeague();
  const host = createHost(sessionStore(db, testWriter(db)), systemClock, systemIds);
  const referee = createReferee({
    driver: testDriver(host, peers),
    matches: matchTable(db, testWriter(db)),
    peers,
    log: openLog(null, "referee"),
    manager: league.manager,
    reportTimeoutMs: 10_000,
    identity: { id: "REF01", token: TOKEN, managerOffersWebSocket },
  });
  ends.push(
    league.close,
    () => inner.close(),
    () => referee.stop(),
  );
  const { roles, ...order } = league.order({ run_id: "run" });
  const [[role, first], [otherRole, second]] = Object.entries(roles) as [[string, Seat], [string, Seat]];
  const offering = { ...first, transports: ["carrier pigeon", "websocket"] };
  await referee.start({ ...order, roles: { [role]: offering, [otherRole]: second } });
  await league.waitFor("manager", "MATCH_RESULT");
  const named: Readonly<Record<string, string>> = {
    [first.endpoint]: first.player_id,
    [second.endpoint]: second.player_id,
    [league.manager]: "manager",
  };
  const names = (endpoints: Set<string>): readonly string[] => [...endpoints].map((one) => named[one] ?? one).sort();
  return { overSockets: names(calls.overSockets), posted: names(calls.posted) };
}

type Seat = ReturnType<Awaited<ReturnType<typeof startTestLeague>>["order"]>["roles"][string];

it("only the players that offer a WebSocket, and a manager that offers one, are called over it", async () => {
  expect(await playMatch(true)).toEqual({ overSockets: ["P01", "manager"], posted: ["P02"] });
  expect(await playMatch(false)).toEqual({ overSockets: ["P01"], posted: ["P02", "manager"] });
});
