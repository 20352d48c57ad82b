import { expect, test } from "vitest";
import { compareIds, playerId } from "./ids.ts";

test("ids are in the order of their numbers, also from 100 on", () => {
  const ids = [1, 2, 9, 10, 11, 99, 100, 101, 1_000].map(playerId);
  expect(ids.toReversed().sort(compareIds)).toEqual(ids);
});

test("ids of different names are in plain string order, and so are numbers of one value", () => {
  expect(["REF02", "P10", "p1", "P1", "Z", "P01", "É"].sort(compareIds)).toEqual([
    ...["P01", "P1", "P10", "REF02", "Z", "p1", "É"],
  ]);
});
