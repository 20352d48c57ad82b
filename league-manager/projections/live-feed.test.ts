import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ok } from "#shared/lib/result.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import type { NewLeagueEvent } from "../league/commands.ts";
import { afterCommands, running, SETTINGS } from "../league/testing/leagues.ts";
import type { Decide } from "../ledger.ts";
import { ledgerOn, profile, registered } from "../store/testing/ledger.ts";
import type { LiveEvent } from "./live.ts";
import { liveFeed } from "./live-feed.ts";
import { createProjections } from "./projections.ts";

const append =
  (events: readonly { readonly leagueId: string; readonly event: NewLeagueEvent }[]): Decide<null> =>
  () =>
    ok({ leagueEvents: events, reply: null });

const complete = (...leagueIds: readonly string[]): Decide<null> =>
  append(leagueIds.map((leagueId) => ({ leagueId, event: { type: "completed" } })));

/** The events of a league of two players up to its last match, which is forfeited. */
const played = (leagueId: string) =>
  afterCommands([
    ...running(["P1", "P2"], { ...SETTINGS, leagueId }).slice(0, -1),
    { type: "open_round", roundId: 1, shutDown: new Map([["P1", 5]]) },
  ]).events.map(({ v, at, ...event }) => ({ leagueId, event: event as NewLeagueEvent }));

/** A ledger with the leagues "first" and "second", whose matches are all played, and the live events of its later commits. */
async function twoLeagues() {
  const folder = mkdtempSync(join(tmpdir(), "live-feed-"));
  const { ledger, db } = ledgerOn(join(folder, "league-manager.sqlite"));
  onTestFinished(() => {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const leagueId of ["first", "second"]) await ledger.execute(append(played(leagueId)));
  const events: LiveEvent[] = [];
  liveFeed({
    ...{ ledger, projections: createProjections(ledger), log: silentProcess("manager").log },
    ...{ emit: (event) => void events.push(event), onCommitted: () => {} },
  });
  return { ledger, events, types: () => events.map(({ type }) => type) };
}

test("two leagues that complete in one commit are followed by one all_completed, without their results", async () => {
  const { ledger, events, types } = await twoLeagues();
  await ledger.execute(complete("first", "second"));
  expect(types()).toEqual(["league_completed", "league_completed", "all_completed"]);
  expect(events.at(-1)).toEqual({ type: "all_completed" });
});

test("all_completed comes after the last league, and not again with a later commit", async () => {
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
