import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { aborted, played } from "../../../league-manager/testing/results.ts";
import { type ScriptedLeague, startScriptedLeague } from "../../../league-manager/testing/scripted-league.ts";
import { exportOf } from "../export-store.ts";
import { matchFile, writeExport } from "../format.ts";
import { findStore } from "../stored-run.ts";
import { forgeFile } from "../testing/forgery.ts";
import { verifyExport } from "./verify.ts";

const RECORDED = { payload: { status: "RECORDED" } };

/** Starts a league whose only match is aborted once and assigned again. Returns the orders of both assignments. */
async function repeatedMatch(
  test: TestContext,
): Promise<{ league: ScriptedLeague; orders: readonly [StartGame, StartGame] }> {
  const league = await startScriptedLeague(test, { referees: 2 });
  await league.begin();
  const first = await league.order("REF01", "R1M1");
  await league.restart();
  expect(await league.report("REF01", aborted(await league.order("REF01", "R1M1")))).toMatchObject(RECORDED);
  const second = await league.order("REF02", "R1M1");
  expect([first.epoch, second.epoch]).toEqual([1, 2]);
  return { league, orders: [first, second] };
}

/** Waits for the end of a league and exports it. Resolves with the folder of the export. */
async function exportCompleted(league: ScriptedLeague): Promise<string> {
  await league.completion();
  const folder = join(league.dataFolder, "export");
  writeExport(folder, (await exportOf(findStore(league.dataFolder))).files);
  return folder;
}

describe("a match that is played again", () => {
  it("has a new seed in its order, its log and its export, and verify checks it", async (test) => {
    const { league, orders } = await repeatedMatch(test);
    const [first, second] = orders;
    expect(second.seed).not.toBe(first.seed);
    const result = played(second);
    expect(JSON.parse(result.log[0] ?? "").seed_commitment).toBe(sha256Hex(second.seed));
    expect(await league.report("REF02", result)).toMatchObject(RECORDED);
    const folder = await exportCompleted(league);
    expect(verifyExport(folder)).toMatchObject({ faults: [], matches: 1 });
    // In epoch 1 the match had another seed.
    forgeFile(folder, matchFile("rps", "R1M1"), (match) => (match.epoch = 1));
    expect(verifyExport(folder).faults).toContainEqual({
      file: matchFile("rps", "R1M1"),
      message: "its seed does not follow from the seed of the league",
    });
  });

  it("is not recorded if its log uses the seed of the earlier epoch", async (test) => {
    const { league, orders } = await repeatedMatch(test);
    const [first, second] = orders;
    expect(await league.report("REF02", played({ ...second, seed: first.seed }))).toMatchObject({
      isError: true,
      payload: { error_code: "G001", message: expect.stringContaining("the seed does not match its commitment") },
    });
  });
});
