import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { ok } from "#shared/lib/result.ts";
import { StoreBusy } from "#shared/store/store-errors.ts";
import type { NewLeagueEvent } from "../league/league.ts";
import { afterCommands, pair, running, SETTINGS } from "../league/testing/leagues.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { keepSnapshots } from "./snapshots.ts";
import { enter, LEAGUE_IDS, ledgerOn, type OpenedLedger, openLeague, stateAfterCrash } from "./testing/ledger.ts";

const folder = mkdtempSync(join(tmpdir(), "load-state-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
let file: string;
let opened: OpenedLedger;
const execute = <Reply>(decide: Decide<Reply>) => opened.ledger.execute(decide);
const state = (): ManagerState => opened.ledger.state;

beforeEach(async () => {
  file = join(folder, `${++files}.sqlite`);
  opened = await ledgerOn(file);
});
afterEach(async () => {
  await opened.snapshots.settled();
  opened.db.close();
});

describe("snapshots of leagues", () => {
  const snapshotVersion = async () => (await opened.store.readSnapshot("league:first"))?.version ?? null;
  /** The decisions that play the league from its start to its end. Its match is forfeited. */
  const playLeague: Decide<null>[] = afterCommands([
    ...running(["P1", "P2"], { ...SETTINGS, leagueId: "first" }).slice(0, -1),
    { type: "open_round", roundId: 1, shutDown: new Map([["P1", 5]]) },
    pair(),
    { type: "complete" },
  ])
    .events.slice(3)
    .map(
      ({ v, at, ...event }) =>
        () =>
          ok({ leagueEvents: [{ leagueId: "first", event: event as NewLeagueEvent }], reply: null }),
    );
  const reopen = async (options: Parameters<typeof ledgerOn>[1] = {}): Promise<void> => {
    opened.db.close();
    opened = await ledgerOn(file, options);
  };

  test("are written after a number of events and when the league completes", async () => {
    await reopen({ snapshotAfter: 5 });
    const versions: unknown[] = [];
    for (const command of [openLeague("first"), enter("first"), enter("first"), ...playLeague]) {
      await execute(command);
      await opened.snapshots.settled();
      versions.push(await snapshotVersion());
    }
    expect(state().leagues.get("first")?.status).toBe("completed");
    expect(versions).toEqual([null, null, null, null, 5, 5, 5, 5, 9]);
    expect(await stateAfterCrash(file)).toEqual(state());
  });

  test("are written when the manager stops, for leagues with later events only", async () => {
    for (const command of [openLeague("first"), enter("first")]) await execute(command);
    expect(await snapshotVersion()).toBeNull();
    await opened.snapshots.stop();
    expect(await snapshotVersion()).toBe(2);
    opened.db.exec("UPDATE snapshots SET body = 'unchanged'");
    await opened.snapshots.stop();
    expect((await opened.store.readSnapshot("league:first"))?.head).toBe("unchanged");
  });

  test.each([
    ["since the previous snapshot", async () => {}],
    ["since a snapshot from before a restart", () => reopen({ snapshotAfter: 1 })],
  ])("contain only the rounds that have changed %s", async (_, restart) => {
    await reopen({ snapshotAfter: 1 });
    const roundAfter = async (command: Decide<unknown>) => {
      opened.db.exec("UPDATE snapshot_rounds SET body = 'unchanged'");
      await execute(command);
      await opened.snapshots.settled();
      return (await opened.store.readSnapshot("league:first"))?.rounds.get(1);
    };
    const [started, paired, roundOpened, matchCompleted, completed] = playLeague;
    for (const command of [openLeague("first"), enter("first"), enter("first"), started, paired, roundOpened]) {
      await execute(command as Decide<unknown>);
      await opened.snapshots.settled();
    }
    await restart();
    expect(await roundAfter(matchCompleted as Decide<unknown>)).toMatch(/shut_down/);
    await restart();
    expect(await roundAfter(completed as Decide<unknown>)).toBe("unchanged");
    expect(await snapshotVersion()).toBe(8);
  });

  test("that cannot be written are reported and do not delay later ones", async () => {
    await reopen({ snapshotAfter: 1 });
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
    const versions = LEAGUE_IDS.map(async (id) => (await opened.store.readSnapshot(`league:${id}`))?.version);
    expect(await Promise.all(versions)).toEqual([2, 2]);
    expect(opened.snapshotErrors).toHaveLength(2);
  });

  test("that cannot be written are tried again after the same number of events", async () => {
    await reopen({ snapshotAfter: 2 });
    opened.db.exec("CREATE TRIGGER full BEFORE INSERT ON snapshots BEGIN SELECT RAISE(ABORT, 'full'); END");
    const errors: number[] = [];
    for (const command of [openLeague("first"), enter("first"), enter("first"), ...playLeague.slice(0, 2)]) {
      await execute(command);
      await opened.snapshots.settled();
      errors.push(opened.snapshotErrors.length);
      if (errors.length === 3) opened.db.exec("DROP TRIGGER full");
    }
    expect([errors, await snapshotVersion()]).toEqual([[0, 1, 1, 1, 1], 4]);
  });

  test("are not part of the commit that makes them due", async () => {
    await reopen({ snapshotAfter: 1 });
    const executed = execute(openLeague("first")).then(() => snapshotVersion());
    expect(await executed).toBeNull();
    await opened.snapshots.settled();
    expect(await snapshotVersion()).toBe(1);
  });

  test("are written in a separate turn of the event loop after the commit that makes them due", async () => {
    const deferred: (() => void)[] = [];
    const clock = { defer: (run: () => void) => void deferred.push(run) };
    const { ledger, store } = opened;
    const snapshots = keepSnapshots({ ledger, store, written: new Map(), clock, afterEvents: 1, onError: () => {} });
    await execute(openLeague("first"));
    await systemClock.nextTurn();
    expect([deferred.length, await snapshotVersion()]).toEqual([1, null]);
    for (const run of deferred) run();
    await snapshots.settled();
    expect(await snapshotVersion()).toBe(1);
    await snapshots.stop();
  });

  test("reduce the events that a start reads to the later ones", async () => {
    await reopen({ snapshotAfter: 2 });
    for (const command of [openLeague("first"), enter("first"), enter("first")]) await execute(command);
    await opened.snapshots.stop();
    const expected = state();
    await reopen();
    expect(opened.reads).toContain("league:first 3");
    expect(opened.reads).not.toContain("league:first 0");
    expect(state()).toEqual(expected);
    for (const command of playLeague) await execute(command);
    expect(state().leagues.get("first")).toMatchObject({ version: 9, status: "completed" });
    expect(await stateAfterCrash(file)).toEqual(state());
  });

  test.each([
    ["without its round", "DELETE FROM snapshot_rounds"],
    ["with an unreadable round", "UPDATE snapshot_rounds SET body = 'null'"],
    [
      "with a player that it does not have",
      "UPDATE snapshot_rounds SET body = json_set(body, '$.matches', json('[[0,7]]'))",
    ],
    ["with an outcome that it does not have", "UPDATE snapshot_rounds SET body = json_set(body, '$.matches[0][5]', 7)"],
  ])("%s are ignored, and a start reads every event of the completed league", async (_, change) => {
    for (const command of [openLeague("first"), enter("first"), enter("first"), ...playLeague]) await execute(command);
    await opened.snapshots.settled();
    const expected = state();
    opened.db.exec(change);
    await reopen();
    expect(opened.reads).toContain("league:first 0");
    expect(state()).toEqual(expected);
  });

  test.each([
    ["of another format", "UPDATE snapshots SET body = json_set(body, '$.format', 1)"],
    ["that are not objects", "UPDATE snapshots SET body = 'null'"],
    ["with another version than their league", "UPDATE snapshots SET seq = 2"],
    ["with a later version than the log", "UPDATE snapshots SET seq = 9, body = json_set(body, '$.fields.version', 9)"],
    ["with a missing round", "UPDATE snapshots SET body = json_set(body, '$.rounds', 1)"],
    ["that are deleted", "DELETE FROM snapshots"],
  ])("%s are ignored, and a start reads every event", async (_, change) => {
    await reopen({ snapshotAfter: 2 });
    for (const command of [openLeague("first"), enter("first"), enter("first")]) await execute(command);
    await opened.snapshots.stop();
    const expected = state();
    opened.db.exec(change);
    await reopen();
    expect(opened.reads).toContain("league:first 0");
    expect(state()).toEqual(expected);
  });
});

test("a start reads all events of a stream that has more events than one read returns", async () => {
  await execute(openLeague("first"));
  const { game, roles, format } = SETTINGS;
  const events = Array.from({ length: 10_001 }, (_, n) => {
    const event = { type: "reconfigured", game, roles, format, options: { n } } as const;
    return { leagueId: "first", event };
  });
  await execute(() => ok({ leagueEvents: events, reply: null }));
  await opened.snapshots.settled();
  opened.db.exec("DELETE FROM snapshots");
  expect((await stateAfterCrash(file)).leagues.get("first")).toMatchObject({ version: 10_002, options: { n: 10_000 } });
});
