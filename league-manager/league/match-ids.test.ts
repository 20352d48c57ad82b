import { describe, expect, test } from "vitest";
import { numbered, positionOf } from "./league.ts";

const NEW_ROUNDS = [
  { pairings: [["P01", "P02"] as const, ["P03", "P04"] as const], byes: ["P05"] },
  { pairings: [["P05", "P01"] as const], byes: [] },
];

describe("a schedule", () => {
  test("has the match ids R{round}M{n}, counted without byes", () => {
    const ids = numbered(NEW_ROUNDS).map(({ pairings }) => pairings.map(({ match_id }) => match_id));
    expect(ids).toEqual([["R1M1", "R1M2"], ["R2M1"]]);
  });

  test("consists of rounds in the form of the event round_paired, numbered after the rounds of the league", () => {
    expect(numbered(NEW_ROUNDS.slice(1), 3)).toStrictEqual([
      { round_id: 4, pairings: [{ match_id: "R4M1", players: ["P05", "P01"] }], byes: [] },
    ]);
  });
});

test("the position of a match is known from its id", () => {
  expect(positionOf("R12M3")).toEqual({ roundId: 12, index: 2 });
  expect(["R0M1", "R1M0", "R1", "r1m1", "R1M1 "].map(positionOf)).toEqual([null, null, null, null, null]);
});
