import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { findStore } from "./stored-run.ts";
import { testExports } from "./testing/exports.ts";
import { plainRun, writeStore } from "./testing/store.ts";

const exports = testExports();
afterAll(() => exports.remove());

const HOUR_S = 3_600;
/** Sets the modification time of a file to a number of hours after 1970. */
const setTime = (file: string, hours: number): void => utimesSync(file, hours * HOUR_S, hours * HOUR_S);
const writeUnstarted = (folder: string): Promise<string> => writeStore(folder, ["rps"], async () => {});

it("findStore returns the newest run with a started league, even if a manager that ended immediately left a newer store", async () => {
  const data = exports.newFolder();
  const older = await plainRun(join(data, "runs", "2026-01-01"));
  const newer = await plainRun(join(data, "runs", "2026-01-02"));
  for (const [index, file] of [older, newer, await writeUnstarted(data)].entries()) setTime(file, index + 1);
  expect(findStore(data)).toBe(newer);
});

it("findStore returns the newest store if no store has a started league", async () => {
  const data = exports.newFolder();
  const [servedStore, runStore] = [await writeUnstarted(data), await writeUnstarted(join(data, "runs", "2026-01-01"))];
  setTime(servedStore, 1);
  setTime(runStore, 2);
  expect(findStore(data)).toBe(runStore);
});

it("findStore returns a newer store that cannot be read, so that the export reports its fault", async () => {
  const data = exports.newFolder();
  setTime(await plainRun(data), 1);
  const damaged = await writeUnstarted(join(data, "runs", "2026-01-01"));
  writeFileSync(damaged, "no database");
  expect(findStore(data)).toBe(damaged);
});
