import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import { MatchLogs } from "./match-logs.ts";

let folder = "";
let lost: Error[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "match-logs-"));
  lost = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const newLogs = (place = folder): MatchLogs =>
  new MatchLogs(
    () => place,
    systemDisk(systemClock),
    manualClock(),
    (error) => void lost.push(error),
  );
const match = (match_id: string, epoch = 1) => ({ league_id: "rps", match_id, epoch });
const linesOf = (file: string): readonly string[] =>
  readFileSync(join(folder, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /, ""));

test("the lines of each match, and of each attempt at it, are in a file of its league, which only the owner may read", () => {
  const logs = newLogs();
  logs.add(match("R1M1"), "first");
  logs.add(match("R1M2"), "other");
  logs.add(match("R1M1"), "second");
  logs.add(match("R1M1", 2), "again");
  logs.add({ ...match("R1M1"), league_id: "../x" }, "elsewhere");
  expect(readdirSync(folder).sort()).toEqual(["..%2Fx", "rps"]);
  expect(readdirSync(join(folder, "rps")).sort()).toEqual(["R1M1-2.log", "R1M1.log", "R1M2.log"]);
  expect(linesOf("rps/R1M1.log")).toEqual(["first", "second"]);
  expect(statSync(join(folder, "rps/R1M1.log")).mode & 0o777).toBe(0o600);
});

test("a match has at most 1 MB of lines", () => {
  const logs = newLogs();
  for (let n = 0; n < 1_200; n++) logs.add(match("R1M1"), "x".repeat(1_000));
  const lines = linesOf("rps/R1M1.log");
  expect(lines).toHaveLength(1_001);
  expect(lines.at(-1)).toBe("more than 1000000 characters; further lines are omitted");
});

test("a file that cannot be written is reported, and is not an error of the match", () => {
  writeFileSync(join(folder, "file"), "");
  newLogs(join(folder, "file")).add(match("R1M1"), "line");
  expect(lost.map(({ message }) => message)).toEqual([expect.stringContaining("ENOTDIR")]);
});
