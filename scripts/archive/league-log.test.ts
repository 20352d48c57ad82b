import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { RUN_FILE } from "./files.ts";
import { createFindings } from "./findings.ts";
import { readLeagueLog } from "./league-log.ts";
import { openSource } from "./source.ts";
import { testExports } from "./testing-exports.ts";
import { plainRun } from "./testing-store.ts";

const exports = testExports();
afterAll(() => exports.remove());

it("a league's log is kept as its events and the league that they lead to, without the leagues between them", async () => {
  const folder = await exports.exported(plainRun);
  const [told] = JSON.parse(readFileSync(join(folder, RUN_FILE), "utf8")).leagues;
  const { steps, league } = readLeagueLog(openSource(folder, createFindings()), told);
  expect(league?.version).toBe(steps.length);
  expect(new Set(steps.flatMap(Object.keys))).toEqual(new Set(["event"]));
});
