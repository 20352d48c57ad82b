import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { writeSyntheticRun } from "../bench/synthetic-run.ts";
import { exportOf } from "./export-store.ts";
import { writeExport } from "./format.ts";
import { findStore } from "./stored-run.ts";
import { verifyExport } from "./verify/verify.ts";

const root = mkdtempSync(join(tmpdir(), "export-size-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Methods that search an array from its beginning. One search for each match makes the total work quadratic. */
const SEARCHES = ["find", "findIndex", "filter", "some", "every", "includes", "indexOf"] as const;

/** Returns the total length of the arrays that are searched while `run` runs. */
async function countSearched(run: () => unknown): Promise<number> {
  const prototype = Array.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  const originals = SEARCHES.map((name) => [name, prototype[name]] as const);
  let count = 0;
  for (const [name, search] of originals) {
    prototype[name] = function (this: readonly unknown[], ...args: unknown[]): unknown {
      count += this.length;
      return search?.apply(this, args);
    };
  }
  try {
    await run();
  } finally {
    for (const [name, search] of originals) if (search) prototype[name] = search;
  }
  return count;
}

/** Returns the number of searched elements per match of a run, by step. */
async function searchedPerMatch(playerCount: number): Promise<Readonly<Record<string, number>>> {
  const folder = join(root, String(playerCount));
  const out = join(folder, "export");
  const matches = await writeSyntheticRun(folder, playerCount);
  let files: ReadonlyMap<string, string> = new Map();
  const counts = {
    export: await countSearched(async () => {
      files = (await exportOf(findStore(folder))).files;
    }),
    write: await countSearched(() => writeExport(out, files)),
    replace: await countSearched(() => writeExport(out, files)),
    verify: await countSearched(() => expect(verifyExport(out)).toMatchObject({ faults: [], matches })),
    // Without its logs, an export has a fault in each match.
    verifyWithoutLogs: await countSearched(() => {
      for (const name of files.keys()) if (name !== "league.json") rmSync(join(out, name));
      expect(verifyExport(out).faults.length).toBeGreaterThanOrEqual(matches);
    }),
  };
  return Object.fromEntries(Object.entries(counts).map(([step, count]) => [step, count / matches]));
}

test("the work per match of export, replacement and verify does not grow with the number of matches", async () => {
  const ofFewPlayers = await searchedPerMatch(12);
  const ofManyPlayers = await searchedPerMatch(32);
  const growing = Object.entries(ofManyPlayers).filter(([step, count]) => count > 1.5 * (ofFewPlayers[step] ?? 0) + 1);
  expect(growing).toEqual([]);
});

test("verify accepts an export of more than 99 players, whose ids differ in length", async () => {
  const folder = join(root, "hundred");
  const matches = await writeSyntheticRun(folder, 101);
  writeExport(join(folder, "export"), (await exportOf(findStore(folder))).files);
  expect(verifyExport(join(folder, "export"))).toMatchObject({ faults: [], matches });
});
