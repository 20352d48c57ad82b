import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ok } from "#shared/lib/result.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import type { NewLeagueEvent } from "../league/league.ts";
import { afterCommands, running, SETTINGS } from "../league/testing/leagues.ts";
import type { Decide } from "../ledger.ts";
import { ledgerOn, profile, registered } from "../store/testing/ledger.ts";
import { type LiveEvent, liveFeed } from "./live-events.ts";
import { createProjections } from "./projections.ts";

const append =
  (events: readonly { readonly leagueId: string; readonly event: NewLeagueEvent }[]): Decide<null> =>
  () =>
    ok({ leagueEvents: events, reply: null });

const complete = (...leagueIds: readonly string[]): Decide<null> =>
  append(leagueIds.map((leagueId) => ({ leagueId, event: { type: "completed" } })));

/** The events of a league of two players until all its matches are completed. The only match is forfeited. */
const playedOut = (leagueId: string) =>
  afterCommands([
    ...running(["P1", "P2"], { ...SETTINGS, leagueId }).slice(0, -1),
    { type: "open_round", roundId: 1, shutDown: new Map([["P1", 5]]) },
  ]).events.map(({ v, at, ...event }) => ({ leagueId, event: event as NewLeagueEvent }));

/** Creates a ledger with two leagues whose matches are completed. `events` collects the live events of later commits. */
async function twoLeagues() {
  const folder = mkdtempSync(join(tmpdir(), "live-feed-"));
  const { ledger, db } = await ledgerOn(join(folder, "league-manager.sqlite"));
  onTestFinished(() => {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const leagueId of ["first", "second"]) await ledger.execute(append(playedOut(leagueId)));
  const events: LiveEvent[] = [];
  liveFeed({
    ledger,
    projections: createProjections(ledger),
    log: silentProcess("manager").log,
    emit: (event) => void events.push(event),
    onCommitted: () => {},
  });
  return { ledger, events, types: () => events.map(({ type }) => type) };
}

test("two leagues that complete in one commit cause one all_completed without results", async () => {
  const { ledger, events, types } = await twoLeagues();
  await ledger.execute(complete("first", "second"));
  expect(types()).toEqual(["league_completed", "league_completed", "all_completed"]);
  expect(events.at(-1)).toEqual({ type: "all_completed" });
});

test("all_completed follows the completion of the last league, and is not repeated by later commits", async () => {
  const { ledger, types } = await twoLeagues();
  await ledger.execute(complete("second"));
  expect(types()).toEqual(["league_completed"]);
  await ledger.execute(complete("first"));
  expect(types()).toEqual(["league_completed", "league_completed", "all_completed"]);
  await ledger.execute(() =>
    ok({ agentEvents: [{ agentId: "P3", event: registered("P3") }], writes: [profile("P3")], reply: null }),
  );
  expect(types().filter((type) => type === "all_completed")).toHaveLength(1);
});
