import { expect, it } from "vitest";
import { differencesBetween, unifiedDiff } from "./differences.ts";

const numbers = (count: number): string[] => Array.from({ length: count }, (_, n) => `line ${n}`);

it("equal records have no difference", () => {
  const record = new Map([["help.txt", "one\ntwo\n"]]);
  expect(differencesBetween(record, new Map(record))).toEqual([]);
});

it("a file that only one record has is a difference", () => {
  expect(differencesBetween(new Map([["a.txt", ""]]), new Map([["b.txt", ""]]))).toEqual([
    { file: "a.txt", lines: ["the program no longer gives this file"] },
    { file: "b.txt", lines: ["the record has no such file"] },
  ]);
});

it("a changed line is shown with the lines around it", () => {
  const before = numbers(20);
  const now = before.with(10, "changed");
  expect(unifiedDiff(before, now)).toEqual([
    "@@ line 9 @@",
    " line 8",
    " line 9",
    "-line 10",
    "+changed",
    " line 11",
    " line 12",
  ]);
});

it("added and removed lines are shown in separate hunks", () => {
  const before = numbers(20);
  const now = ["first", ...before.toSpliced(15, 1)];
  expect(unifiedDiff(before, now)).toEqual([
    "@@ line 1 @@",
    "+first",
    " line 0",
    " line 1",
    "@@ line 14 @@",
    " line 13",
    " line 14",
    "-line 15",
    " line 16",
    " line 17",
  ]);
});

it("for leagues the columns that differ are counted", () => {
  const line = (seed: number, standings: string): string =>
    `seed 0${seed} swiss: matches 0123abcd standings ${standings} | Ada 3, Ben 0`;
  const before = [line(1, "11111111"), line(2, "22222222"), line(3, "33333333")];
  const now = [line(1, "11111111"), line(2, "aaaaaaaa"), line(3, "bbbbbbbb")];
  const [difference] = differencesBetween(
    new Map([["leagues/rps.v1.txt", before.join("\n")]]),
    new Map([["leagues/rps.v1.txt", now.join("\n")]]),
  );
  expect(difference?.lines[0]).toBe("lines that differ: standings in 2");
});
