import { describe, expect, it } from "vitest";
import { type Counts, countsOfGames } from "./counts.ts";
import { gamesUntilSignificant, roundedGames, strengthOf } from "./elo.ts";
import { eloOfScore, normalCdf, scoreOfElo, Z_95 } from "./normal.ts";

const games = (wins: number, losses: number, draws: number) => countsOfGames({ wins, draws, losses });

describe("the normal distribution and the Elo scale", () => {
  it("has the values of published tables", () => {
    expect(normalCdf(0)).toBeCloseTo(0.5, 14);
    expect(normalCdf(1)).toBeCloseTo(0.8413447460685429, 12);
    expect(normalCdf(-2.5)).toBeCloseTo(0.006209665325776132, 12);
    expect(normalCdf(Z_95)).toBeCloseTo(0.975, 12);
    expect(normalCdf(-40)).toBeGreaterThanOrEqual(0);
    expect(normalCdf(40)).toBe(1);
  });

  it("400 points are odds of 10 to 1, and an infinite difference is null", () => {
    expect(scoreOfElo(400)).toBeCloseTo(10 / 11, 12);
    expect(eloOfScore(10 / 11)).toBeCloseTo(400, 9);
    expect([eloOfScore(0), eloOfScore(1)]).toEqual([null, null]);
  });
});

// Results that were published with their figures. The tolerance covers the wider interval for small samples (see the head of elo.ts).
describe("the strength from many games agrees with other tools", () => {
  // Outputs of cutechess-cli: changelog of MidnightChessEngine, and "SPRT results" of the Rustic book.
  it.each([
    { wins: 449, losses: 276, draws: 275, elo: 60.7, error: 18.5, superiority: 100 },
    { wins: 382, losses: 320, draws: 298, elo: 21.6, error: 18.1, superiority: 99 },
    { wins: 869, losses: 646, draws: 357, elo: 41.6, error: 14.2, superiority: 100 },
    { wins: 409, losses: 197, draws: 133, elo: 102.5, error: 23.5, superiority: 100 },
    { wins: 628, losses: 416, draws: 277, elo: 56.2, error: 16.8, superiority: 100 },
  ])("single games: $wins-$losses-$draws", ({ wins, losses, draws, elo, error, superiority }) => {
    const strength = strengthOf(games(wins, losses, draws));
    expect(strength.elo.value).toBeCloseTo(elo, 1);
    expect(Math.abs((strength.elo.error ?? 0) - error)).toBeLessThan(0.02 * error);
    expect(Math.abs(100 * strength.superiority - superiority)).toBeLessThan(0.3);
  });

  // app/tests/elo_test.cpp of fastchess, as the following pairs. The continuity correction moves 15.5% in 300 games to 16.6%.
  it.each([
    { wins: 76, losses: 89, draws: 123, superiority: 15.53 },
    { wins: 136, losses: 96, draws: 111, superiority: 99.6 },
  ])("likelihood of superiority: $wins-$losses-$draws", ({ wins, losses, draws, superiority }) => {
    expect(Math.abs(100 * strengthOf(games(wins, losses, draws)).superiority - superiority)).toBeLessThan(1.2);
  });

  it.each<{ pairs: Counts; elo: number; error: number; superiority: number }>([
    { pairs: [34, 54, 63, 64, 75], elo: 55.58, error: 27.65, superiority: 100 },
    { pairs: [332, 433, 498, 333, 334], elo: -8.64, error: 10.33, superiority: 5.05 },
    { pairs: [7895, 8757, 5685, 568, 9999], elo: -21.04, error: 2.95, superiority: 0 },
  ])("pairs of games: $pairs", ({ pairs, elo, error, superiority }) => {
    const strength = strengthOf(pairs);
    expect(strength.games).toBe(2 * pairs.reduce((sum, count) => sum + count, 0));
    expect(strength.elo.value).toBeCloseTo(elo, 1);
    expect(Math.abs((strength.elo.error ?? 0) - error)).toBeLessThan(0.015 * error);
    expect(Math.abs(100 * strength.superiority - superiority)).toBeLessThan(0.3);
  });
});

describe("the strength from few games", () => {
  it("is unknown without games", () => {
    expect(strengthOf(games(0, 0, 0))).toEqual({
      games: 0,
      percent: { lower: 0, value: 50, upper: 100, error: 50 },
      elo: { lower: null, value: 0, upper: null, error: null },
      superiority: 0.5,
      isSignificant: false,
    });
  });

  it("has one finite bound after wins only, and no number is infinite or NaN", () => {
    const { percent, elo } = strengthOf(games(100, 0, 0));
    expect(percent.lower).toBeGreaterThan(95);
    expect(percent.upper).toBe(100);
    expect(elo).toEqual({ lower: expect.any(Number), value: null, upper: null, error: null });
    expect(strengthOf(games(0, 100, 0)).elo.upper).toBeCloseTo(-(elo.lower ?? 0), 6);
  });

  it("is not significant after four wins in four games, but is after five", () => {
    expect(strengthOf(games(4, 0, 0)).isSignificant).toBe(false);
    expect(strengthOf(games(5, 0, 0)).isSignificant).toBe(true);
  });

  it("is close to the exact probability for a uniform prior: 1 - 2^-(n+1) after n wins", () => {
    for (const wins of [1, 2, 3, 4, 6]) {
      const { superiority } = strengthOf(games(wins, 0, 0));
      expect(superiority).toBeLessThan(1 - 0.5 ** (wins + 1));
      expect(superiority).toBeGreaterThan(1 - 0.5 ** (wins + 1) - 0.06);
    }
  });

  it("three draws do not show that the players are equal", () => {
    expect(strengthOf(games(0, 0, 3)).percent.error).toBeGreaterThan(30);
    expect(strengthOf(games(0, 0, 1000)).percent.error).toBeLessThan(0.25);
  });

  const small: readonly Counts[] = Array.from({ length: 7 ** 3 }, (_, n) =>
    games(n % 7, Math.floor(n / 7) % 7, Math.floor(n / 49)),
  );
  const pairs: readonly Counts[] = Array.from(
    { length: 3 ** 5 },
    (_, n) => [81, 27, 9, 3, 1].map((power) => Math.floor(n / power) % 3) as unknown as Counts,
  );

  it.each([...small, ...pairs].map((counts) => [counts] as const))("is consistent for %j", (counts) => {
    const { percent, elo, superiority, isSignificant } = strengthOf(counts);
    const numbers = [...Object.values(percent), ...Object.values(elo).filter((n) => n !== null), superiority];
    expect(numbers.every(Number.isFinite)).toBe(true);
    expect(0 <= percent.lower && percent.lower <= percent.value).toBe(true);
    expect(percent.value <= percent.upper && percent.upper <= 100).toBe(true);
    expect(isSignificant).toBe(superiority > 0.975 || superiority < 0.025);
    const mirrored = strengthOf([...counts].reverse() as unknown as Counts);
    expect(mirrored.superiority).toBeCloseTo(1 - superiority, 12);
    expect(mirrored.percent.lower).toBeCloseTo(100 - percent.upper, 9);
    const more = gamesUntilSignificant(counts);
    expect(more === 0).toBe(isSignificant);
    expect(more === null || (Number.isInteger(more) && more >= 0)).toBe(true);
  });

  it("covers the true score in 95% of the samples of 20 games, exactly computed for win probabilities from 5% to 95%", () => {
    const n = 20;
    const coverages = Array.from({ length: 91 }, (_, i) => {
      const p = 0.05 + i / 100;
      let [coverage, binomial] = [0, (1 - p) ** n];
      for (let wins = 0; wins <= n; wins++) {
        const { lower, upper } = strengthOf(games(wins, n - wins, 0)).percent;
        if (lower <= 100 * p && 100 * p <= upper) coverage += binomial;
        binomial *= ((n - wins) / (wins + 1)) * (p / (1 - p));
      }
      return coverage;
    });
    expect(coverages.reduce((sum, one) => sum + one, 0) / coverages.length).toBeGreaterThan(0.95);
    expect(Math.min(...coverages)).toBeGreaterThan(0.92);
  });
});

describe("the number of games until the result is significant", () => {
  it("is what the result needs if it continues with the same shares", () => {
    const more = gamesUntilSignificant(games(54, 46, 0)) ?? 0;
    expect(more).toBeGreaterThan(400);
    const at = (total: number) => strengthOf(games(0.54 * total, 0.46 * total, 0)).isSignificant;
    expect([at(100 + more - 10), at(100 + more + 10)]).toEqual([false, true]);
  });

  it("is larger with fewer decisive games, and counts both games of a pair", () => {
    expect(gamesUntilSignificant(games(27, 23, 50))).toBeGreaterThan(gamesUntilSignificant(games(54, 46, 0)) ?? 0);
    expect(gamesUntilSignificant([0, 0, 0, 0, 1])).toBe(8);
  });

  it("is null without games, with equal scores, and if it would exceed a million", () => {
    expect(gamesUntilSignificant(games(0, 0, 0))).toBeNull();
    expect(gamesUntilSignificant(games(10, 10, 3))).toBeNull();
    expect(gamesUntilSignificant(games(5001, 5000, 0))).toBeNull();
  });

  it("is rounded up to two digits for people", () => {
    expect([7, 99, 101, 900, 12_345, 0].map(roundedGames)).toEqual([7, 99, 110, 900, 13_000, 0]);
  });
});
