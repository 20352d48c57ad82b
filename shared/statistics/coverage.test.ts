import { describe, expect, it } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import { AVERAGE_RATING, rateByBradleyTerry } from "./bradley-terry.ts";
import type { Counts } from "./counts.ts";
import { strengthOf } from "./elo.ts";
import { scoreOfElo } from "./normal.ts";
import { drawnOutcome, type LeagueShape, normalNumber, simulatedLeague } from "./testing/simulated-players.ts";

const LEAGUES = 2000;

/** Simulates leagues and returns the shares, in percent, of intervals that contain the true value. */
function coverage(shape: LeagueShape): { ratings: number; differences: number; wrong: number } {
  const random = createRandom(`coverage ${JSON.stringify(shape)}`);
  const [ratings, differences] = [
    { inside: 0, all: 0 },
    { inside: 0, all: 0 },
  ];
  let wrong = 0;
  for (let league = 0; league < LEAGUES; league++) {
    const { strengths, results } = simulatedLeague(random, shape);
    const names = [...strengths.keys()];
    const truth = (name: string): number => strengths.get(name) ?? 0;
    const average = names.reduce((sum, name) => sum + truth(name), 0) / names.length;
    const rated = rateByBradleyTerry(names, results);
    for (const { player, rating, error } of rated.ratings) {
      ratings.all++;
      if (Math.abs(rating - AVERAGE_RATING - (truth(player) - average)) <= error) ratings.inside++;
    }
    for (const [i, first] of names.entries()) {
      for (const second of names.slice(0, i)) {
        const comparison = rated.compare(first, second);
        const difference = truth(first) - truth(second);
        differences.all++;
        if (Math.abs(comparison.difference - difference) <= comparison.error) differences.inside++;
        if (comparison.isSignificant && comparison.difference * difference < 0) wrong++;
      }
    }
  }
  const percent = ({ inside, all }: { inside: number; all: number }): number => (100 * inside) / all;
  return { ratings: percent(ratings), differences: percent(differences), wrong: (100 * wrong) / differences.all };
}

describe(`the 95% intervals of ratings in ${LEAGUES.toLocaleString("en")} simulated leagues`, () => {
  it.each<[string, LeagueShape]>([
    ["eight players, twenty games a pair", { players: 8, spread: 200, games: 20, drawRate: 0 }],
    ["similar players", { players: 8, spread: 50, games: 4, drawRate: 0 }],
    ["very different players", { players: 8, spread: 400, games: 4, drawRate: 0 }],
    ["half of the games drawn", { players: 8, spread: 200, games: 4, drawRate: 0.5 }],
    ["most games of very different players drawn", { players: 8, spread: 400, games: 10, drawRate: 0.8 }],
    ["sixteen players, one game a pair", { players: 16, spread: 200, games: 1, drawRate: 0.3 }],
    ["six opponents each", { players: 16, spread: 200, games: 4, drawRate: 0.3, meet: (i, j) => i - j <= 3 }],
  ])("contain the true rating in 95% ± 1.5 of the cases: %s", (_, shape) => {
    const { ratings, differences, wrong } = coverage(shape);
    expect(ratings).toBeGreaterThan(93.5);
    expect(ratings).toBeLessThan(96.5);
    expect(differences).toBeGreaterThan(93.5);
    expect(differences).toBeLessThan(96.5);
    // A comparison that is reported as significant names the weaker player in at most 2.5% of the cases.
    expect(wrong).toBeLessThan(2.5);
  });

  it("are rather too wide in very small leagues", () => {
    const { ratings, differences } = coverage({ players: 4, spread: 200, games: 2, drawRate: 0 });
    expect(Math.min(ratings, differences)).toBeGreaterThan(95);
    expect(Math.max(ratings, differences)).toBeLessThan(99.5);
  });
});

describe("the 95% intervals of the score of a match in 2,000 simulated matches", () => {
  it.each([
    { spread: 100, games: 200, drawRate: 0, inPairs: false },
    { spread: 100, games: 200, drawRate: 0.4, inPairs: false },
    { spread: 300, games: 100, drawRate: 0.1, inPairs: false },
    { spread: 100, games: 1000, drawRate: 0.2, inPairs: true },
  ])("contain the true score in 95% ± 1.5 of the cases: %j", ({ spread, games, drawRate, inPairs }) => {
    const random = createRandom(`match ${spread} ${games} ${drawRate}`);
    let inside = 0;
    for (let match = 0; match < LEAGUES; match++) {
      const elo = normalNumber(random, spread);
      // In a pair, the opening favours one side, so that the two games have different expected scores.
      const scores = inPairs ? [scoreOfElo(elo + 200), scoreOfElo(elo - 200)] : [scoreOfElo(elo)];
      const counts = inPairs ? [0, 0, 0, 0, 0] : [0, 0, 0];
      for (let outcome = 0; outcome < games / scores.length; outcome++) {
        const points = scores.reduce(
          (sum, score) => sum + drawnOutcome(random, score, 2 * drawRate * Math.min(score, 1 - score)),
          0,
        );
        counts[points] = (counts[points] ?? 0) + 1;
      }
      const { lower, upper } = strengthOf(counts as unknown as Counts).percent;
      const truth = (100 * scores.reduce((sum, score) => sum + score, 0)) / scores.length;
      if (lower <= truth && truth <= upper) inside++;
    }
    expect((100 * inside) / LEAGUES).toBeGreaterThan(93.5);
    expect((100 * inside) / LEAGUES).toBeLessThan(96.5);
  });
});
