import { expect, test } from "vitest";
import { moveGroups, numberOfPly } from "./match/move-groups.ts";

test.each([
  [0, false, ""],
  [50, false, "0-50"],
  [101, false, "0-50 50-100 100-101"],
  [101, true, "0-49 49-99 99-101"],
])("%i moves, where the second role begins: %s, are drawn in the groups %s", (count, beginsWithSecond, groups) => {
  expect(
    moveGroups(count, beginsWithSecond)
      .map(({ from, to }) => `${from}-${to}`)
      .join(" "),
  ).toBe(groups);
});

test.each([
  [false, ["1.", "", "2.", ""]],
  [true, ["1…", "2.", "", "3."]],
])("the numbers of the first moves of chess, where black begins: %s, are %j", (blackBegins, numbers) => {
  expect([0, 1, 2, 3].map((index) => numberOfPly(index, blackBegins))).toEqual(numbers);
});
