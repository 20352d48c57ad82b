import { describe, expect, it } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import type { Counts } from "./counts.ts";
import { scoreOfElo } from "./normal.ts";
import { type SprtOptions, sprtStatus } from "./sprt.ts";
import { drawnOutcome } from "./testing/simulated-players.ts";

interface Case {
  readonly model: SprtOptions["model"];
  readonly drawRate: number;
  readonly inPairs: boolean;
  readonly tests: number;
}

const [ELO_0, ELO_1] = [0, 100];

/** The expected score of a player that is `elo` points stronger in this model. */
function scoreIn({ model, drawRate }: Case, elo: number): number {
  if (model === "logistic") return scoreOfElo(elo);
  // score = 1/2 + t·deviation, where the deviation depends on the score.
  const t = (elo * Math.LN10) / 800;
  let score = 0.5;
  for (let round = 0; round < 50; round++) score = 0.5 + t * Math.sqrt(score * (1 - score) - drawRate / 4);
  return score;
}

/** Plays until the test ends, and returns its decision. */
function decision(one: Case, outcome: () => 0 | 1 | 2): "H0" | "H1" {
  const counts = one.inPairs ? [0, 0, 0, 0, 0] : [0, 0, 0];
  const options: SprtOptions = { elo0: ELO_0, elo1: ELO_1, alpha: 0.05, beta: 0.05, model: one.model };
  while (true) {
    const points = one.inPairs ? outcome() + outcome() : outcome();
    counts[points] = (counts[points] ?? 0) + 1;
    const { state } = sprtStatus(counts as unknown as Counts, options);
    if (state !== "continue") return state;
  }
}

describe("the error rates of simulated sequential tests with 5% each, evaluated after every game", () => {
  it.each<Case>([
    { model: "logistic", drawRate: 0, inPairs: false, tests: 1500 },
    { model: "logistic", drawRate: 0.4, inPairs: false, tests: 1500 },
    { model: "logistic", drawRate: 0.4, inPairs: true, tests: 1500 },
    { model: "normalized", drawRate: 0.4, inPairs: true, tests: 800 },
  ])("are at most 5% plus three standard deviations: %j", (one) => {
    const errors = ([elo, wrong]: readonly [number, "H0" | "H1"]): number => {
      const random = createRandom(`${JSON.stringify(one)} ${elo}`);
      const score = scoreIn(one, elo);
      let count = 0;
      for (let test = 0; test < one.tests; test++) {
        if (decision(one, () => drawnOutcome(random, score, one.drawRate)) === wrong) count++;
      }
      return count / one.tests;
    };
    const limit = 0.05 + 3 * Math.sqrt((0.05 * 0.95) / one.tests);
    const [falseAlarm, miss] = [errors([ELO_0, "H1"]), errors([ELO_1, "H0"])];
    expect(falseAlarm).toBeLessThan(limit);
    expect(miss).toBeLessThan(limit);
    // The test also uses its error rates: a test that never decides wrongly plays more games than necessary.
    expect(Math.min(falseAlarm, miss)).toBeGreaterThan(0.02);
  });
});
