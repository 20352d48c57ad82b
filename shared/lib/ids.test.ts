import { expect, test } from "vitest";
import { compareIds, derivedMessageId, playerId } from "./ids.ts";

test("compareIds sorts ids by their numbers, including numbers of three and more digits", () => {
  const ids = [1, 2, 9, 10, 11, 99, 100, 101, 1_000].map(playerId);
  expect(ids.toReversed().sort(compareIds)).toEqual(ids);
});

test("compareIds sorts ids with different prefixes, or with equal numbers, in string order", () => {
  expect(["REF02", "P10", "p1", "P1", "Z", "P01", "É"].sort(compareIds)).toEqual([
    "P01",
    "P1",
    "P10",
    "REF02",
    "Z",
    "p1",
    "É",
  ]);
});

test("a derived message id is a UUID of version 4 that depends only on its parts", () => {
  const ids = ["P01", "P02", "P03", "P04", "P05", "P06"].map((player) => derivedMessageId("league/L1", "17", player));
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(derivedMessageId("league/L1", "17", "P01")).toBe(ids[0]);
  expect(new Set([...ids, derivedMessageId("league/L1", "1", "7P01")]).size).toBe(7);
});
