import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { writeSyntheticRun } from "../../bench/run.ts";
import { writeExport } from "../files.ts";
import { verifyExport } from "../verify/verify.ts";
import { exportOf } from "./export-store.ts";
import { findStore } from "./find-store.ts";

const root = mkdtempSync(join(tmpdir(), "export-size-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Methods that search an array from its beginning: one search for each match makes the total work quadratic. */
const SEARCHES = ["find", "findIndex", "filter", "some", "every", "includes", "indexOf"] as const;

/** How many elements array searches look at while `run` runs. */
async function searched(run: () => unknown): Promise<number> {
  const prototype = Array.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  const own = SEARCHES.map((name) => [name, prototype[name]] as const);
  let count = 0;
  for (const [name, search] of own) {
    prototype[name] = function (this: readonly unknown[], ...args: unknown[]): unknown {
      count += this.length;
      return search?.apply(this, args);
    };
  }
  try {
    await run();
  } finally {
    for (const [name, search] of own) if (search) prototype[name] = search;
  }
  return count;
}

/** Elements that are searched for each match of a run, by step. */
async function searchedPerMatch(playerCount: number): Promise<Readonly<Record<string, number>>> {
  const folder = join(root, String(playerCount));
  const out = join(folder, "export");
  const matches = await writeSyntheticRun(folder, playerCount);
  let files: ReadonlyMap<string, string> = new Map();
  const counts = {
    exported: await searched(async () => {
      files = (await exportOf(findStore(folder))).files;
    }),
    written: await searched(() => writeExport(out, files)),
    replaced: await searched(() => writeExport(out, files)),
    verified: await searched(() => expect(verifyExport(out)).toMatchObject({ faults: [], matches })),
    // An export that has lost its logs has a fault in each match.
    blamed: await searched(() => {
      for (const name of files.keys()) if (name !== "league.json") rmSync(join(out, name));
      expect(verifyExport(out).faults.length).toBeGreaterThanOrEqual(matches);
    }),
  };
  return Object.fromEntries(Object.entries(counts).map(([step, count]) => [step, count / matches]));
}

test("export, its replacement and verify do the same work for each match, however many there are", async () => {
  const few = await searchedPerMatch(12);
  const many = await searchedPerMatch(32);
  const grown = Object.entries(many).filter(([step, count]) => count > 1.5 * (few[step] ?? 0) + 1);
  expect(grown).toEqual([]);
});

test("an export of more than 99 players is sound: its players are in the order in which the manager drew them up", async () => {
  const folder = join(root, "hundred");
  const matches = await writeSyntheticRun(folder, 101);
  writeExport(join(folder, "export"), (await exportOf(findStore(folder))).files);
  expect(verifyExport(join(folder, "export"))).toMatchObject({ faults: [], matches });
});
