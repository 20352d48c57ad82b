import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { testExports } from "../testing/exports.ts";
import { plainRun, writeStore } from "../testing/store.ts";
import { findStore } from "./find-store.ts";

const exports = testExports();
afterAll(() => exports.remove());

const HOUR_S = 3_600;
/** Dates a file so many hours after 1970. */
const date = (file: string, hours: number): void => utimesSync(file, hours * HOUR_S, hours * HOUR_S);
const unstarted = (folder: string): Promise<string> => writeStore(folder, ["rps"], async () => {});

it("the newest run with a started league is taken, although a manager that ended at once has left a newer store", async () => {
  const data = exports.newFolder();
  const older = await plainRun(join(data, "runs", "2026-01-01"));
  const newer = await plainRun(join(data, "runs", "2026-01-02"));
  for (const [index, file] of [older, newer, await unstarted(data)].entries()) date(file, index + 1);
  expect(findStore(data)).toBe(newer);
});

it("a store without a started league is taken if there is no other", async () => {
  const data = exports.newFolder();
  const [served, run] = [await unstarted(data), await unstarted(join(data, "runs", "2026-01-01"))];
  date(served, 1);
  date(run, 2);
  expect(findStore(data)).toBe(run);
});

it("a newer store that cannot be read is taken, so that its fault is reported", async () => {
  const data = exports.newFolder();
  date(await plainRun(data), 1);
  const damaged = await unstarted(join(data, "runs", "2026-01-01"));
  writeFileSync(damaged, "no database");
  expect(findStore(data)).toBe(damaged);
});
