import { describe, expect, it } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import { AVERAGE_RATING, type PairResult, rateByBradleyTerry } from "./bradley-terry.ts";
import { ELO_PER_LOGIT } from "./normal.ts";
import { simulatedLeague } from "./testing/simulated-players.ts";

const pair = (first: string, second: string, wins: number, losses: number, draws = 0): PairResult => ({
  first,
  second,
  wins,
  draws,
  losses,
});

describe("Bradley-Terry ratings", () => {
  // The American League of 1987: A. Agresti, Categorical Data Analysis (2nd edition), table 10.10 and section 10.6; data set `baseball` of the R package
  // BradleyTerry2, whose manual has the estimates and standard errors relative to Baltimore.
  it("agree with the published estimates for the baseball teams of 1987", () => {
    const teams = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"];
    const wins = [
      [0, 7, 9, 7, 7, 9, 11],
      [6, 0, 7, 5, 11, 9, 9],
      [4, 6, 0, 7, 7, 8, 12],
      [6, 8, 6, 0, 6, 7, 10],
      [6, 2, 6, 7, 0, 7, 12],
      [4, 4, 5, 6, 6, 0, 6],
      [2, 4, 1, 3, 1, 7, 0],
    ];
    const results = teams.flatMap((first, i) =>
      teams.slice(0, i).map((second, j) => pair(first, second, wins[i]?.[j] ?? 0, wins[j]?.[i] ?? 0)),
    );
    const { compare, ratings } = rateByBradleyTerry(teams, results);
    expect(ratings.map(({ games }) => games)).toEqual(teams.map(() => 78));
    const published = [
      [1.5814, 0.3433],
      [1.4364, 0.3396],
      [1.2945, 0.3367],
      [1.2476, 0.3359],
      [1.1077, 0.3339],
      [0.6839, 0.3319],
    ];
    for (const [i, [estimate = 0, standardError = 0]] of published.entries()) {
      const { difference, error } = compare(teams[i] ?? "", "Baltimore");
      // The prior moves the estimates by 1%.
      expect(Math.abs(difference / ELO_PER_LOGIT - estimate)).toBeLessThan(0.015 * estimate + 0.001);
      expect(Math.abs(error / 1.96 / ELO_PER_LOGIT - standardError)).toBeLessThan(0.01 * standardError);
    }
  });

  it("find the maximum of the posterior: for two players, the root of its derivative", () => {
    const { compare } = rateByBradleyTerry(["A", "B"], [pair("A", "B", 30, 10)]);
    const difference = compare("A", "B").difference / ELO_PER_LOGIT;
    // Each strength is half of the difference; the prior pulls it with 1/τ².
    const pull = (difference / 2) * (ELO_PER_LOGIT / 500) ** 2;
    expect(30 - 40 / (1 + Math.exp(-difference)) - pull).toBeCloseTo(0, 9);
  });

  it("have the average 1500, and depend neither on the order of the players nor on that of the results", () => {
    const { strengths, results } = simulatedLeague(createRandom("order"), {
      players: 9,
      spread: 200,
      games: 3,
      drawRate: 0.2,
    });
    const names = [...strengths.keys()];
    const { ratings } = rateByBradleyTerry(names, results);
    expect(ratings.reduce((sum, { rating }) => sum + rating, 0) / 9).toBeCloseTo(AVERAGE_RATING, 6);
    const reversed = rateByBradleyTerry(
      names.toReversed(),
      results.toReversed().map((one) => pair(one.second, one.first, one.losses, one.wins, one.draws)),
    ).ratings.toReversed();
    for (const [i, { player, rating, error }] of ratings.entries()) {
      expect(reversed[i]?.player).toBe(player);
      expect(reversed[i]?.rating).toBeCloseTo(rating, 6);
      expect(reversed[i]?.error).toBeCloseTo(error, 6);
    }
  });

  it("count draws as half wins", () => {
    const { ratings, compare } = rateByBradleyTerry(["A", "B"], [pair("A", "B", 10, 10, 20)]);
    expect(ratings.map(({ points }) => points)).toEqual([20, 20]);
    expect(compare("A", "B")).toMatchObject({ superiority: 0.5, isSignificant: false });
    const decisive = rateByBradleyTerry(["A", "B"], [pair("A", "B", 20, 20)]);
    expect(compare("A", "B").error).toBeLessThan(decisive.compare("A", "B").error);
  });

  it("are the same for six wins and six losses as for twelve draws, and the intervals are not", () => {
    const withThird = (second: PairResult) =>
      rateByBradleyTerry(["A", "B", "C"], [pair("A", "B", 7, 5), pair("B", "C", 8, 4), second]);
    const [decisive, drawn] = [withThird(pair("A", "C", 6, 6)), withThird(pair("A", "C", 0, 0, 12))];
    for (const [i, { rating, error }] of decisive.ratings.entries()) {
      expect(drawn.ratings[i]?.rating).toBeCloseTo(rating, 9);
      expect(drawn.ratings[i]?.error).toBeLessThan(error);
    }
  });

  it("are finite after wins only, and after draws only", () => {
    const won = rateByBradleyTerry(["A", "B"], [pair("A", "B", 1000, 0)]);
    expect(won.compare("A", "B")).toMatchObject({ isSignificant: true });
    const drawn = rateByBradleyTerry(["A", "B"], [pair("A", "B", 0, 0, 1000)]);
    expect(drawn.compare("A", "B")).toMatchObject({ difference: 0, superiority: 0.5, isSignificant: false });
    for (const { ratings } of [won, drawn]) {
      expect(ratings.every(({ rating, error }) => Number.isFinite(rating) && error > 0 && error < 1000)).toBe(true);
    }
  });

  it("are not significant after one game, between players without common opponents, and without games", () => {
    const results = [pair("A", "B", 1, 0), pair("C", "D", 40, 0)];
    const { compare, ratings } = rateByBradleyTerry(["A", "B", "C", "D", "E"], results);
    expect(compare("A", "B").isSignificant).toBe(false);
    expect(compare("C", "D").isSignificant).toBe(true);
    expect(compare("C", "A").isSignificant).toBe(false);
    expect(compare("C", "A").error).toBeGreaterThan(500);
    expect(ratings[4]?.rating).toBeCloseTo(AVERAGE_RATING, 9);
    expect(ratings[4]?.error).toBeGreaterThan(800);
  });

  it("compare in both directions alike", () => {
    const { compare } = rateByBradleyTerry(["A", "B", "C"], [pair("A", "B", 7, 3), pair("B", "C", 6, 4)]);
    const [forth, back] = [compare("A", "C"), compare("C", "A")];
    expect(back.difference).toBeCloseTo(-forth.difference, 9);
    expect(back.superiority).toBeCloseTo(1 - forth.superiority, 9);
    expect(back.error).toBeCloseTo(forth.error, 9);
  });

  it("exist for no player and for one player", () => {
    expect(rateByBradleyTerry([], []).ratings).toEqual([]);
    expect(rateByBradleyTerry(["A"], []).ratings).toEqual([
      { player: "A", rating: AVERAGE_RATING, error: 0, games: 0, points: 0 },
    ]);
  });

  it("of 200 players are close to their strengths, within their intervals", () => {
    const { strengths, results } = simulatedLeague(createRandom("large"), {
      players: 200,
      spread: 200,
      games: 4,
      drawRate: 0.2,
    });
    const { ratings } = rateByBradleyTerry([...strengths.keys()], results);
    const average = [...strengths.values()].reduce((sum, strength) => sum + strength, 0) / 200;
    const inside = ratings.filter(
      ({ player, rating, error }) =>
        Math.abs(rating - AVERAGE_RATING - ((strengths.get(player) ?? 0) - average)) <= error,
    );
    expect(ratings.every(({ error }) => error < 65)).toBe(true);
    expect(inside.length).toBeGreaterThan(180);
  });
});
