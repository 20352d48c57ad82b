import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { ok } from "#shared/lib/result.ts";
import { StoreBusy } from "#shared/store/broken.ts";
import type { NewLeagueEvent } from "../league/commands.ts";
import { afterCommands, running, SETTINGS } from "../league/testing.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { keepSnapshots } from "./snapshots.ts";
import { enter, ledgerOn, type OpenedLedger, openLeague, stateAfterCrash } from "./testing-ledger.ts";

const folder = mkdtempSync(join(tmpdir(), "load-state-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
let file: string;
let opened: OpenedLedger;
const execute = <Reply>(decide: Decide<Reply>) => opened.ledger.execute(decide);
const state = (): ManagerState => opened.ledger.state;

beforeEach(() => {
  file = join(folder, `${++files}.sqlite`);
  opened = ledgerOn(file);
});
afterEach(async () => {
  await opened.snapshots.settled();
  opened.db.close();
});

describe("snapshots of leagues", () => {
  const snapshotVersion = () => opened.store.readSnapshot("league:first")?.seq ?? null;
  /** The events of a league from its start to its end; its match is forfeited. */
  const rest: Decide<null>[] = afterCommands([
    ...running(["P1", "P2"], { ...SETTINGS, leagueId: "first" }).slice(0, -1),
    { type: "open_round", roundId: 1, shutDown: new Map([["P1", 5]]) },
    { type: "complete" },
  ])
    .events.slice(3)
    .map(
      ({ v, at, ...event }) =>
        () =>
          ok({ leagueEvents: [{ leagueId: "first", event: event as NewLeagueEvent }], reply: null }),
    );
  const reopen = (options: Parameters<typeof ledgerOn>[1] = {}): void => {
    opened.db.close();
    opened = ledgerOn(file, options);
  };

  test("are written after so many events and when the league completes", async () => {
    reopen({ snapshotAfter: 5 });
    const versions: unknown[] = [];
    for (const command of [openLeague("first"), enter("first"), enter("first"), ...rest]) {
      await execute(command);
      await opened.snapshots.settled();
      versions.push(snapshotVersion());
    }
    expect(state().leagues.get("first")?.status).toBe("completed");
    expect(versions).toEqual([null, null, null, null, 5, 5, 5, 8]);
    expect(stateAfterCrash(file)).toEqual(state());
  });

  test("are written at a stop, of leagues with later events alone", async () => {
    for (const command of [openLeague("first"), enter("first")]) await execute(command);
    expect(snapshotVersion()).toBeNull();
    await opened.snapshots.stop();
    expect(snapshotVersion()).toBe(2);
    opened.db.exec("UPDATE snapshots SET body = 'as it was'");
    await opened.snapshots.stop();
    expect(opened.store.readSnapshot("league:first")?.body).toBe("as it was");
  });

  test("are written again after a quarter more events", async () => {
    reopen({ snapshotAfter: 2 });
    const versions: unknown[] = [];
    const changes = Array.from(
      { length: 16 },
      (_, n): Decide<unknown> =>
        () => {
          const { game, roles, format } = SETTINGS;
          const event = { type: "reconfigured", game, roles, format, options: { n } } as const;
          return ok({ leagueEvents: [{ leagueId: "first", event }], reply: null });
        },
    );
    for (const command of [openLeague("first"), ...changes]) {
      await execute(command);
      await opened.snapshots.settled();
      if (snapshotVersion() !== versions.at(-1)) versions.push(snapshotVersion());
    }
    expect(versions).toEqual([null, 2, 4, 6, 8, 10, 13, 17]);
  });

  test("that cannot be written are reported, and do not hold up those that are due later", async () => {
    reopen({ snapshotAfter: 1 });
    opened.db.exec("PRAGMA busy_timeout = 1");
    const other = new DatabaseSync(file);
    const remove = opened.ledger.onCommit(() => other.exec("BEGIN IMMEDIATE"));
    await Promise.all([execute(openLeague("first")), execute(openLeague("second"))]);
    remove();
    await opened.snapshots.settled();
    expect(opened.snapshotErrors).toEqual([expect.any(StoreBusy), expect.any(StoreBusy)]);
    other.exec("ROLLBACK");
    other.close();
    await Promise.all([execute(enter("first")), execute(enter("second"))]);
    await opened.snapshots.settled();
    expect(["league:first", "league:second"].map((stream) => opened.store.snapshotVersion(stream))).toEqual([2, 2]);
    expect(opened.snapshotErrors).toHaveLength(2);
  });

  test("are no part of the commit that makes them due", async () => {
    reopen({ snapshotAfter: 1 });
    const executed = execute(openLeague("first")).then(() => snapshotVersion());
    expect(await executed).toBeNull();
    await opened.snapshots.settled();
    expect(snapshotVersion()).toBe(1);
  });

  test("are written in a turn of their own, after the commit that makes them due", async () => {
    const deferred: (() => void)[] = [];
    const clock = { defer: (run: () => void) => void deferred.push(run) };
    const { ledger, store } = opened;
    const snapshots = keepSnapshots({ ledger, store, clock, after: 1, onError: () => {} });
    await execute(openLeague("first"));
    await systemClock.nextTurn();
    expect([deferred.length, snapshotVersion()]).toEqual([1, null]);
    for (const run of deferred) run();
    await snapshots.settled();
    expect(snapshotVersion()).toBe(1);
    await snapshots.stop();
  });

  test("let a start read the later events only, and the ledger goes on from there", async () => {
    reopen({ snapshotAfter: 2 });
    for (const command of [openLeague("first"), enter("first"), enter("first")]) await execute(command);
    await opened.snapshots.stop();
    const wanted = state();
    reopen();
    expect(opened.reads).toContain("league:first 3");
    expect(opened.reads).not.toContain("league:first 0");
    expect(state()).toEqual(wanted);
    for (const command of rest) await execute(command);
    expect(state().leagues.get("first")).toMatchObject({ version: 8, status: "completed" });
    expect(stateAfterCrash(file)).toEqual(state());
  });

  test.each([
    ["of another format", "UPDATE snapshots SET body = '{}'"],
    ["of no object", "UPDATE snapshots SET body = 'null'"],
    ["of a version that its league does not have", "UPDATE snapshots SET seq = 2"],
    ["of a later version than the log", "UPDATE snapshots SET seq = 9, body = json_set(body, '$.fields.version', 9)"],
    ["without rounds", "UPDATE snapshots SET body = json_remove(body, '$.rounds')"],
    [
      "of a player that it does not have",
      "UPDATE snapshots SET body = json_set(body, '$.rounds', json('[[1,1,[7],[]]]'))",
    ],
    ["deleted", "DELETE FROM snapshots"],
  ])("%s: a start reads every event", async (_, change) => {
    reopen({ snapshotAfter: 2 });
    for (const command of [openLeague("first"), enter("first"), enter("first")]) await execute(command);
    await opened.snapshots.stop();
    const wanted = state();
    opened.db.exec(change);
    reopen();
    expect(opened.reads).toContain("league:first 0");
    expect(state()).toEqual(wanted);
  });
});

test("a stream of more events than are read at once is read whole", async () => {
  await execute(openLeague("first"));
  const { game, roles, format } = SETTINGS;
  const events = Array.from({ length: 10_001 }, (_, n) => {
    const event = { type: "reconfigured", game, roles, format, options: { n } } as const;
    return { leagueId: "first", event };
  });
  await execute(() => ok({ leagueEvents: events, reply: null }));
  await opened.snapshots.settled();
  opened.db.exec("DELETE FROM snapshots");
  expect(stateAfterCrash(file).leagues.get("first")).toMatchObject({ version: 10_002, options: { n: 10_000 } });
});
