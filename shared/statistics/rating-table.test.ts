import { describe, expect, it } from "vitest";
import { MAX_COMPARED, type RatedMatch, ratingTable } from "./rating-table.ts";

const match = (first: string, second: string, points: readonly number[]): RatedMatch => ({
  players: [first, second],
  points,
});
const times = (count: number, one: RatedMatch): readonly RatedMatch[] => Array.from({ length: count }, () => one);

describe("the table of ratings", () => {
  it("lists the strongest player first, with matches, share of the points and every comparison", async () => {
    const table = await ratingTable(
      ["C", "B", "A"],
      [...times(9, match("A", "B", [3, 0])), match("B", "A", [1, 1]), match("B", "C", [3, 0]), match("C", "B", [3, 0])],
    );
    expect(table).toMatchObject({ model: "bradley-terry", matches: 12 });
    expect(table.rows.map(({ player, matches, percent }) => [player, matches, percent])).toEqual([
      ["A", 10, 95],
      ["C", 2, 50],
      ["B", 12, 12.5],
    ]);
    expect(table.comparisons.map(({ player, other, isSignificant }) => [player, other, isSignificant])).toEqual([
      ["A", "C", false],
      ["A", "B", true],
      ["C", "B", false],
    ]);
    expect(table.comparisons.every(({ likelihood }) => likelihood >= 0.5 && likelihood <= 1)).toBe(true);
  });

  it("does not count aborted matches and matches that both players lost", async () => {
    const counted = [match("A", "B", [3, 0])];
    const others = [match("A", "B", []), match("A", "B", [0, 0])];
    expect(await ratingTable(["A", "B"], [...counted, ...others])).toEqual(await ratingTable(["A", "B"], counted));
  });

  it("lists players without matches with the average rating and no share of the points", async () => {
    const { rows } = await ratingTable(["A", "B"], []);
    expect(rows.map(({ rating, matches, percent }) => [rating, matches, percent])).toEqual([
      [1500, 0, null],
      [1500, 0, null],
    ]);
  });

  it("compares only neighbours in a large table", async () => {
    const players = Array.from({ length: MAX_COMPARED + 1 }, (_, i) => `P${i}`);
    expect((await ratingTable(players, [])).comparisons).toHaveLength(MAX_COMPARED);
    expect((await ratingTable(players.slice(1), [])).comparisons).toHaveLength((MAX_COMPARED * (MAX_COMPARED - 1)) / 2);
  });

  it("rates team games and games of more than two players with openskill", async () => {
    const teams = [
      [0, 1],
      [2, 3],
    ];
    const players = ["A", "B", "C", "D"];
    const won = await ratingTable(players, times(10, { players, points: [3, 3, 0, 0] }), teams);
    expect(won.model).toBe("openskill");
    expect(won.rows.map(({ player }) => player)).toEqual(players);
    expect(won.rows.map(({ percent }) => percent)).toEqual([100, 100, 0, 0]);
    const alone = await ratingTable(players, times(10, { players, points: [0, 0, 3, 0] }));
    expect([alone.model, alone.rows[0]?.player]).toEqual(["openskill", "C"]);
  });
});
