import { expect, test } from "vitest";
import { createInviters } from "./inviters.ts";

test("only an invitation makes an inviter: a stranger who speaks of a match first keeps nobody out", () => {
  const inviters = createInviters();
  expect(inviters.isSame("l/M1", "a stranger's", false)).toBe(true);
  expect(inviters.isSame("l/M1", "the referee's", true)).toBe(true);
  expect(inviters.isSame("l/M1", "the referee's", false)).toBe(true);
  expect(inviters.isSame("l/M1", "a stranger's", false)).toBe(false);
  expect(inviters.isSame("l/M1", "a stranger's", true)).toBe(false);
});

test("of more than 10,000 matches the oldest inviter is forgotten, and no other", () => {
  const inviters = createInviters();
  for (let match = 0; match <= 10_000; match++) inviters.isSame(`l/M${match}`, `token ${match}`, true);
  const strangers = [0, 1, 5_000, 10_000].map((match) => inviters.isSame(`l/M${match}`, "a stranger's", false));
  expect(strangers).toEqual([true, false, false, false]);
});
