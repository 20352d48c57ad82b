import { describe, expect, it } from "vitest";
import type { SprtOptions } from "#shared/statistics/sprt.ts";
import { comparisonOf, type Score } from "./comparison.ts";
import { eloText, forfeitText, likelihoodText, percentText, verdictText } from "./report.ts";

const scoreOf = (wins: number, draws: number, losses: number, pairs: Score["pairs"] = [0, 0, 0, 0, 0]): Score => ({
  players: ["P01", "P02"],
  wins,
  draws,
  losses,
  pairs,
  bothForfeited: 0,
  aborted: 0,
  forfeits: [{}, {}],
});
const NAMES: Readonly<Record<string, string>> = { P01: "my-bot", P02: "counter" };
const nameOf = (id: string): string => NAMES[id] ?? id;
const verdict = (wins: number, draws: number, losses: number): string =>
  verdictText(comparisonOf(scoreOf(wins, draws, losses), false, null), nameOf, null);

describe("the sentence that states the result", () => {
  it("names the better player, its points and the likelihood", () => {
    expect(verdict(541, 0, 459)).toMatch(/^my-bot is better than counter: 54\.1% ± 3\.1 \(likelihood 99\.\d%\)$/);
    expect(verdict(459, 0, 541)).toMatch(/^counter is better than my-bot: 54\.1% ± 3\.1 \(likelihood 99\.\d%\)$/);
  });

  it("states about how many more games are needed while the interval contains 50%", () => {
    expect(verdict(55, 0, 45)).toMatch(/^not decided yet: about \d+ more games are needed$/);
    expect(verdict(50, 0, 50)).toBe(
      "not decided yet: the score is too close to 50% to estimate how many more games are needed",
    );
    expect(verdict(0, 0, 0)).toBe("not decided: no game counts");
  });

  it.each([
    [
      { elo0: 0, elo1: 10 },
      [0, 0, 40, 300, 60],
      /^H1 accepted: my-bot is better than counter: 76\.3% \(74\.7 to 77\.3\) /,
    ],
    [
      { elo0: 0, elo1: 10 },
      [60, 300, 40, 0, 0],
      /^H0 accepted: my-bot is not 10 Elo better than counter: 23\.8% \(22\.7 to 25\.3\) /,
    ],
    [{ elo0: -10, elo1: 0 }, [0, 0, 40, 300, 60], /^H1 accepted: my-bot is not 10 Elo worse than counter: /],
    [{ elo0: -10, elo1: 0 }, [60, 300, 40, 0, 0], /^H0 accepted: my-bot is worse than counter: /],
    [{ elo0: 0, elo1: 10 }, [0, 1, 2, 1, 0], /^not decided yet: about \d+ more games are needed$/],
  ] as const)("states the accepted hypothesis of a sequential test %j", (hypotheses, pairs, expected) => {
    const test: SprtOptions = { alpha: 0.05, beta: 0.05, model: "logistic", ...hypotheses };
    const games = pairs.reduce<number>((sum, count) => sum + 2 * count, 0);
    const comparison = comparisonOf(scoreOf(games, 0, 0, pairs), true, test);
    expect(verdictText(comparison, nameOf, test)).toMatch(expected);
  });
});

describe("the figures", () => {
  it("show percentages that add up, and infinity after a score of 100%", () => {
    const even = comparisonOf(scoreOf(58, 63, 79), false, null);
    expect([percentText(even), percentText(even, 1)]).toEqual([
      expect.stringMatching(/^44\.8% ± 5\.\d$/),
      expect.stringMatching(/^55\.2% ± 5\.\d$/),
    ]);
    expect(eloText(comparisonOf(scoreOf(5, 0, 0), false, null))).toBe("+∞");
    expect(eloText(comparisonOf(scoreOf(0, 0, 5), false, null))).toBe("-∞");
    expect(eloText(comparisonOf(scoreOf(541, 0, 459), false, null))).toMatch(/^\+29 ± 2\d$/);
  });

  it("show the interval if its sides differ, so that it agrees with the verdict", () => {
    const texts = (wins: number, losses: number): readonly string[] => {
      const comparison = comparisonOf(scoreOf(wins, 0, losses), false, null);
      return [percentText(comparison), percentText(comparison, 1), eloText(comparison)];
    };
    expect(texts(4, 0)).toEqual(["100.0% (45 to 100)", "0.0% (0 to 55)", "+∞"]);
    expect(texts(80, 20)).toEqual(["80.0% (70.8 to 86.9)", "20.0% (13.1 to 29.2)", "+241 ± 87"]);
    expect(eloText(comparisonOf(scoreOf(800, 0, 0, [0, 0, 40, 300, 60]), true, null))).toBe("+203 (+188 to +213)");
  });

  it("use ± only if it lies on the same side of 50% as the interval", () => {
    for (let games = 1; games <= 150; games++) {
      for (let wins = 0; wins <= games; wins++) {
        const comparison = comparisonOf(scoreOf(wins, 0, games - wins), false, null);
        const [value, error] = percentText(comparison).split("% ± ").map(Number) as [number, number | undefined];
        if (error === undefined || Math.abs(Math.abs(value - 50) - error) < 0.15) continue;
        expect([wins, games, Math.abs(value - 50) > error]).toEqual([wins, games, comparison.strength.isSignificant]);
      }
    }
  });

  it("never state certainty", () => {
    expect([1, 0.9996, 0.996, 0.5, 0].map(likelihoodText)).toEqual(["> 99.9%", "> 99.9%", "99.6%", "50.0%", "< 0.1%"]);
  });

  it("list forfeits by cause", () => {
    expect(forfeitText({ timeout: 2, illegal_move: 1 })).toBe("2 timeout, 1 illegal_move");
  });
});
