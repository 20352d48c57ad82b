import { describe, expect, it } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import { scoreOfElo } from "./normal.ts";
import { rateTeams } from "./team-ratings.ts";
import { normalNumber } from "./testing/simulated-players.ts";

const of = (players: readonly string[], ...results: Parameters<typeof rateTeams>[1]) => {
  const { ratings, compare } = rateTeams(players, results);
  return { ratings: Object.fromEntries(ratings.map((rating) => [rating.player, rating])), compare };
};

describe("ratings of team games", () => {
  // README of openskill: a1 and a2 win against b1 and b2, on the scale mu 25, sigma 25/3 with default tau.
  it("agree with the model of Weng and Lin: new players of a winning team gain what the others lose", () => {
    const { ratings } = of(["A", "B", "C", "D"], {
      teams: [
        ["A", "B"],
        ["C", "D"],
      ],
      points: [3, 0],
    });
    const [winner, loser] = [ratings.A, ratings.C];
    expect(ratings.B?.rating).toBe(winner?.rating);
    expect((winner?.rating ?? 0) - 1500).toBeCloseTo(1500 - (loser?.rating ?? 0), 9);
    // Equal teams of two: c² = 4σ² + 2β² with β = σ/2, and the update is σ²/c · 1/2.
    const c = 500 * Math.sqrt(4.5);
    expect((winner?.rating ?? 0) - 1500).toBeCloseTo((500 ** 2 / c) * 0.5, 6);
    expect(winner?.error).toBeLessThan(1.96 * 500);
    expect([winner?.points, loser?.points]).toEqual([1, 0]);
  });

  it("do not change between equal teams by a draw, in either order of the teams", () => {
    for (const teams of [
      [["A"], ["B"]],
      [["B"], ["A"]],
    ]) {
      const { ratings } = of(["A", "B"], { teams, points: [1, 1] });
      expect([ratings.A?.rating, ratings.B?.rating]).toEqual([1500, 1500]);
      expect([ratings.A?.points, ratings.B?.points]).toEqual([0.5, 0.5]);
    }
  });

  it("do not depend on which team is named first", () => {
    const one = of(["A", "B"], { teams: [["A"], ["B"]], points: [0, 3] }).ratings;
    const other = of(["A", "B"], { teams: [["B"], ["A"]], points: [3, 0] }).ratings;
    expect(one).toEqual(other);
    expect(one.B?.rating).toBeGreaterThan(1500);
  });

  it("come out for individuals whose partners rotate", () => {
    const random = createRandom("teams");
    const players = Array.from({ length: 8 }, (_, i) => `P${i}`);
    const strengths = new Map(players.map((player, i) => [player, 100 * (3.5 - i) + normalNumber(random, 20)]));
    const results = Array.from({ length: 600 }, () => {
      const [a = "", b = "", c = "", d = ""] = random.shuffle(players);
      const sum = (...team: string[]) => team.reduce((total, player) => total + (strengths.get(player) ?? 0), 0);
      const isWon = random.next() < scoreOfElo(sum(a, b) - sum(c, d));
      return {
        teams: [
          [a, b],
          [c, d],
        ],
        points: isWon ? [3, 0] : [0, 3],
      };
    });
    const { ratings, compare } = rateTeams(players, results);
    expect(ratings.toSorted((a, b) => b.rating - a.rating).map(({ player }) => player)).toEqual(players);
    expect(compare("P0", "P7")).toMatchObject({ isSignificant: true });
    expect(compare("P7", "P0").superiority).toBeLessThan(0.01);
    expect(compare("P3", "P3").superiority).toBeCloseTo(0.5, 9);
  });
});
