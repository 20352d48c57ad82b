import { describe, expect, it } from "vitest";
import { type Counts, momentsOf } from "./counts.ts";
import { gamesUntilDecided, likeliestWithMean, likeliestWithT, type SprtOptions, sprtStatus } from "./sprt.ts";

const options = (elo0: number, elo1: number, model: SprtOptions["model"] = "logistic"): SprtOptions => ({
  elo0,
  elo1,
  alpha: 0.05,
  beta: 0.05,
  model,
});

// app/tests/sprt_test.cpp of fastchess. Its constructor takes wins, losses, draws, and the pairs with two draws apart.
describe("the log-likelihood ratio has the values of fastchess", () => {
  it.each<[Counts, number, number, SprtOptions["model"], number]>([
    [[36027, 68692, 36433], 0, 2, "normalized", 0.92],
    [[10650, 20431, 10871], -1.75, 0.25, "normalized", 2.3],
    [[21184, 40708, 21404], 0.5, 2.5, "logistic", -1.57],
    [[57030, 106593, 57433], 0, 2, "logistic", -2.59],
    [[365, 16618, 36029 + 200, 16974, 390], 0, 2, "normalized", 2.25],
    [[127, 4883, 10311 + 401, 5150, 104], -1.75, 0.25, "normalized", 3.01],
    [[223, 9863, 20279 + 1000, 10037, 246], 0.5, 2.5, "logistic", -3.07],
    [[871, 26175, 55003 + 980, 26678, 821], 0, 2, "logistic", -4.98],
  ])("%j, elo0 %d, elo1 %d, %s: %d", (counts, elo0, elo1, model, llr) => {
    expect(sprtStatus(counts, options(elo0, elo1, model)).llr).toBeCloseTo(llr, 2);
  });
});

describe("the state of a test", () => {
  it("continues between the bounds of Wald", () => {
    const status = sprtStatus([0, 0, 0], options(0, 10));
    expect(status).toEqual({ state: "continue", llr: 0, lower: expect.any(Number), upper: expect.any(Number) });
    expect(status.lower).toBeCloseTo(-2.944, 3);
    expect(status.upper).toBeCloseTo(2.944, 3);
    const strict = sprtStatus([0, 0, 0], { ...options(0, 10), alpha: 0.01, beta: 0.1 });
    expect([strict.lower, strict.upper].map((bound) => bound.toFixed(3))).toEqual(["-2.293", "4.500"]);
  });

  it("is H1 or H0 when a bound is reached, and never before", () => {
    // LLR of n wins: n · ln(s1 / s0), with the expected scores s0 = 1/2 and s1 = 10/11.
    const wins = (n: number) => sprtStatus([0, 0, n], options(0, 400));
    expect(wins(4).llr).toBeCloseTo(4 * Math.log(20 / 11), 2);
    expect([wins(4).state, wins(5).state]).toEqual(["continue", "H1"]);
    expect([1, 2].map((n) => sprtStatus([n, 0, 0], options(0, 400)).state)).toEqual(["continue", "H0"]);
    // The two games of a pair are not independent, so a pair counts as one outcome.
    expect([4, 5].map((n) => sprtStatus([0, 0, 0, 0, n], options(0, 400)).state)).toEqual(["continue", "H1"]);
  });

  it("decides for H0 if the players are equal, and for H1 if the first is as strong as H1 says", () => {
    expect(sprtStatus([3000, 4000, 3000], options(0, 10)).state).toBe("H0");
    expect(sprtStatus([2850, 4000, 3150], options(0, 10)).state).toBe("H1");
    expect(sprtStatus([500, 4000, 1000, 4000, 500], options(0, 10, "normalized")).state).toBe("H0");
  });

  it("is a number for every small sample in both models", () => {
    for (let n = 0; n < 3 ** 5; n++) {
      const pairs = [81, 27, 9, 3, 1].map((power) => 4 * (Math.floor(n / power) % 3)) as unknown as Counts;
      const games = [27, 9, 3].map((power) => 50 * (Math.floor(n / power) % 3)) as unknown as Counts;
      for (const counts of [pairs, games]) {
        for (const [model, elo0] of [
          ["logistic", -5],
          ["normalized", -5],
          ["normalized", -400],
        ] as const) {
          const { llr } = sprtStatus(counts, options(elo0, elo0 + 30, model));
          expect(Number.isFinite(llr), `${counts} ${model}`).toBe(true);
          const more = gamesUntilDecided(counts, options(elo0, elo0 + 30, model));
          expect(more === null || (Number.isInteger(more) && more >= 0), `${counts} ${model}: ${more}`).toBe(true);
        }
      }
    }
  });
});

describe("the most likely distributions", () => {
  const observed = [
    [0.3, 0.4, 0.3],
    [0.1, 0.2, 0.4, 0.2, 0.1],
    [1e-6, 1e-6, 1 - 2e-6],
    [0.5 - 1e-6, 1e-6, 1e-6, 1e-6, 0.5 - 2e-6],
    [1e-6, 1e-6, 1 - 4e-6, 1e-6, 1e-6],
  ];

  it.each(observed)("fulfil their condition for the frequencies %j …", (...frequencies) => {
    for (const mean of [0.05, 0.5, 0.51, 0.9]) {
      const found = likeliestWithMean(frequencies, mean);
      expect(found.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 8);
      expect(momentsOf(found).mean).toBeCloseTo(mean, 9);
    }
    for (const t of [-1.2, -0.3, 0, 0.01, 0.4, 1.2]) {
      const found = likeliestWithT(frequencies, t);
      const { mean, variance } = momentsOf(found);
      expect(found.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 6);
      expect((mean - 0.5) / Math.sqrt(variance)).toBeCloseTo(t, 6);
    }
  });

  it("are more likely than other distributions with the same mean", () => {
    const logLikelihood = (p: readonly number[]) =>
      [0.2, 0.5, 0.3].reduce((sum, count, i) => sum + count * Math.log(p[i] ?? 0), 0);
    const [loss = 0, draw = 0, win = 0] = likeliestWithMean([0.2, 0.5, 0.3], 0.6);
    const best = logLikelihood([loss, draw, win]);
    for (const step of [-0.05, -0.001, 0.001, 0.05]) {
      // The mean stays the same if equal shares of wins and losses replace draws.
      expect(logLikelihood([loss + step, draw - 2 * step, win + step])).toBeLessThan(best);
    }
  });
});

describe("the number of games until the test ends", () => {
  it("is 0 after the end, and null before the first game", () => {
    expect(gamesUntilDecided([0, 0, 5], options(0, 400))).toBe(0);
    expect(gamesUntilDecided([0, 0, 0], options(0, 10))).toBeNull();
  });

  it("agrees with the games that the same shares need, where the drift is strong", () => {
    const counts: Counts = [100, 0, 200];
    const more = gamesUntilDecided(counts, options(0, 10)) ?? 0;
    const ends = Array.from({ length: 5000 }, (_, n) => n + 300).find(
      (n) => sprtStatus([n / 3, 0, (2 * n) / 3], options(0, 10)).state === "H1",
    );
    expect(sprtStatus(counts, options(0, 10)).state === "continue" ? more + 300 : 300).toBe(ends);
  });

  it("is longest if the score is between the hypotheses", () => {
    // Expected scores of the hypotheses: 50% and 51.4%.
    const [below, between, above] = [49, 50.7, 53].map((percent) =>
      gamesUntilDecided([10 * (100 - percent), 0, 10 * percent], options(0, 10)),
    );
    expect(between).toBeGreaterThan(below ?? 0);
    expect(between).toBeGreaterThan(above ?? 0);
  });
});
