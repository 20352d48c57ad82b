import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { cleanUp, newFolder, start } from "../testing/processes.ts";

afterEach(cleanUp);

const bench = (args: readonly string[], environment?: Record<string, string>) =>
  start("scripts/bench/bench.ts", args, environment).ended;

it("bench takes the chosen measurements, and one that fails costs no other figures", async () => {
  const out = newFolder();
  // A program that is no browser, so that the measurement of pages fails.
  const { code, stdout, stderr } = await bench(["--quick", "--only", "d,n,t", "--out", out], {
    CHROMIUM: "/bin/false",
  });
  expect(code, stderr).toBe(1);
  expect(stdout).toMatch(/^d {2}chess plies/m);
  expect(stdout).toMatch(/^n {2}Codenames/m);
  expect(stdout).not.toMatch(/^[a-ce-mp-z] {2}/m);
  expect(stderr).toMatch(/^d {2}chess plies/m);
  expect(stderr).toMatch(/^round 1 of 1: not measured: pages: /m);
  const { rounds, faults } = JSON.parse(readFileSync(join(out, "bench.json"), "utf8"));
  expect(Object.keys(rounds[0])).toEqual(["chess", "codenames"]);
  expect(faults).toHaveLength(1);
});

it("bench rejects a letter without a row with exit code 2 and the letters that exist", async () => {
  const { code, stderr } = await bench(["--only", "a,y"]);
  expect(code).toBe(2);
  expect(stderr).toContain("argument 'a,y' is invalid. give letters of a, b, c,");
});
