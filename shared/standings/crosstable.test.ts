import { expect, test } from "vitest";
import { cellText, crosstable } from "./crosstable.ts";

const row = (player_id: string, rank: number, points: number) => ({ player_id, display_name: player_id, rank, points });
const played = (matchId: string, players: readonly string[], points: readonly number[], termination = "normal") => ({
  matchId,
  players,
  logHead: "head",
  outcome: { points, termination: termination as "normal" | "forfeit" | "aborted" },
});

test("the crosstable has the results of each pair by match, from the view of the player of the row", () => {
  const rounds = [
    { roundId: 1, matches: [played("R1M1", ["B", "A"], [3, 0])], byes: ["C"] },
    { roundId: 2, matches: [played("R2M1", ["A", "B"], [1, 1])], byes: ["C"] },
    { roundId: 3, matches: [played("R3M1", ["C", "A"], [0, 3], "forfeit")], byes: ["B"] },
    {
      roundId: 4,
      byes: ["A"],
      matches: [played("R4M1", ["B", "C"], [], "aborted"), { ...played("R4M2", ["B", "C"], []), outcome: null }],
    },
  ];
  const table = crosstable([row("A", 1, 4), row("B", 1, 4), row("C", 3, 0)], rounds);
  expect(table.results.map((results) => results.map(cellText))).toEqual([
    ["", "0=", "+"],
    ["1=", "", ""],
    ["-", "", ""],
  ]);
  expect(table.results[2]?.[0]).toEqual([{ round_id: 3, match_id: "R3M1", points: 0, is_forfeit: true }]);
  expect(table.players.map(({ rank }) => rank)).toEqual([1, 1, 3]);
});

test("the members of a team have no result against each other, and players without a row are left out", () => {
  const rounds = [{ roundId: 1, matches: [played("R1M1", ["A", "B", "C", "D"], [3, 3, 0, 0])], byes: [] }];
  const table = crosstable([row("A", 1, 3), row("B", 1, 3), row("C", 3, 0)], rounds, [0, 0, 1, 1]);
  expect(table.results.map((results) => results.map(cellText))).toEqual([
    ["", "", "1"],
    ["", "", "1"],
    ["0", "0", ""],
  ]);
});
