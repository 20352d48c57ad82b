import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { ok } from "#shared/lib/result.ts";
import type { NewLeagueEvent } from "../league/commands.ts";
import { afterCommands, running, SETTINGS } from "../league/testing.ts";
import type { Decide, ManagerState } from "../ledger.ts";
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

  test("are no part of the commit that makes them due", async () => {
    reopen({ snapshotAfter: 1 });
    const executed = execute(openLeague("first")).then(() => snapshotVersion());
    expect(await executed).toBeNull();
    await opened.snapshots.settled();
    expect(snapshotVersion()).toBe(1);
  });

  test("let a start read the later events only, and the ledger goes on from there", async () => {
    reopen({ snapshotAfter: 2 });
    for (const command of [openLeague("first"), enter("first"), enter("first")]) await execute(command);
    await opened.snapshots.stop();
    const wanted = state();
    reopen();
    expect(opened.reads[0]).toBe("league:first 3");
    expect(state()).toEqual(wanted);
    for (const command of rest) await execute(command);
    expect(state().leagues.get("first")).toMatchObject({ version: 8, status: "completed" });
    expect(stateAfterCrash(file)).toEqual(state());
  });

  test.each([
    ["of another format", "UPDATE snapshots SET body = '{}'"],
    ["deleted", "DELETE FROM snapshots"],
  ])("%s: a start reads every event", async (_, change) => {
    reopen({ snapshotAfter: 2 });
    for (const command of [openLeague("first"), enter("first"), enter("first")]) await execute(command);
    await opened.snapshots.stop();
    const wanted = state();
    opened.db.exec(change);
    reopen();
    expect(opened.reads[0]).toBe("league:first 0");
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
