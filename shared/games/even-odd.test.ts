import { describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { applyLegal } from "./contract/obligation.ts";
import { drawnNumber, type EvenOddAction, type EvenOddState, evenOdd } from "./even-odd.ts";

type Round = readonly [odd: EvenOddAction, even: EvenOddAction];

function play(options: unknown, rounds: readonly Round[], seed = "seed"): EvenOddState {
  let state: unknown = evenOdd.initialState({ options: evenOdd.options.parse(options), seed });
  for (const [odd, even] of rounds) {
    state = applyLegal(evenOdd, applyLegal(evenOdd, state, "ODD", odd), "EVEN", even);
  }
  return state as EvenOddState;
}

const oddWins: Round = [1, 2];
const evenWins: Round = [1, 3];
const parityOf = (number: number): "even" | "odd" => (number % 2 === 0 ? "even" : "odd");
const otherThan = (parity: "even" | "odd"): "even" | "odd" => (parity === "even" ? "odd" : "even");

describe("even_odd.v1, variant sum", () => {
  it("the phase is COLLECTING_CHOICES until the last round is closed, then FINISHED", () => {
    expect(play({}, []).phase).toBe("COLLECTING_CHOICES");
    expect(play({}, [oddWins, oddWins]).phase).toBe("COLLECTING_CHOICES");
    expect(play({}, [oddWins, oddWins, oddWins]).phase).toBe("FINISHED");
  });

  it("choices are whole numbers from 1 to 5", () => {
    const state = play({}, []);
    expect(evenOdd.legalActions(state, "ODD")).toEqual([1, 2, 3, 4, 5]);
    for (const wrong of [0, 6, -1, 2.5, Number.NaN, "odd"] as const) {
      expect(evenOdd.applyAction(state, "ODD", wrong).ok).toBe(false);
    }
  });

  it("the parity of the sum determines the winner of the round, in all 25 cases", () => {
    for (const odd of [1, 2, 3, 4, 5]) {
      for (const even of [1, 2, 3, 4, 5]) {
        const sumType = (odd + even) % 2 === 1 ? "ODD" : "EVEN";
        const scores = { ODD: 0, EVEN: 0, [sumType]: 1 };
        const facts = { sum: odd + even, sum_type: sumType };
        expect(evenOdd.rounds?.(play({}, [[odd, even]]))).toEqual([
          { round: 1, moves: { ODD: odd, EVEN: even }, winner: sumType, scores, facts },
        ]);
      }
    }
  });

  it("rounds_to_win is 3 and max_rounds is 5 by default", () => {
    expect(evenOdd.options.parse({})).toEqual({ variant: "sum", rounds_to_win: 3, max_rounds: 5 });
  });

  it("the player that first wins rounds_to_win rounds wins the game", () => {
    const state = play({}, [evenWins, oddWins, oddWins, oddWins]);
    expect(evenOdd.outcome(state)).toEqual({ scores: { ODD: 3, EVEN: 1 }, reason: "rounds_won" });
    expect(evenOdd.toAct(state)).toEqual([]);
  });

  it("after max_rounds the higher score wins", () => {
    const state = play({ rounds_to_win: 3, max_rounds: 3 }, [evenWins, oddWins, evenWins]);
    expect(evenOdd.outcome(state)?.scores).toEqual({ ODD: 1, EVEN: 2 });
  });

  it("equal scores after max_rounds are a draw", () => {
    const state = play({ rounds_to_win: 2, max_rounds: 2 }, [evenWins, oddWins]);
    expect(evenOdd.outcome(state)).toEqual({ scores: { ODD: 1, EVEN: 1 }, reason: "draw" });
  });

  it("a player sees its own open choice, null for the other player's choice, and all previous rounds", () => {
    const closed = play({}, [oddWins]);
    const open = applyLegal(evenOdd, closed, "ODD", 4) as EvenOddState;
    expect(evenOdd.viewState(open, "ODD").choices).toEqual({ ODD: 4, EVEN: null });
    for (const viewer of ["EVEN", "spectator"]) {
      expect(evenOdd.viewState(open, viewer)).toEqual(evenOdd.viewState(closed, viewer));
    }
    expect(evenOdd.viewState(open, "EVEN").previous_rounds).toHaveLength(1);
  });

  it("the state does not contain the seed", () => expect(play({}, [])).not.toHaveProperty("seed"));
});

describe("even_odd.v1, variant draw", () => {
  const options = { variant: "draw", rounds_to_win: 2, max_rounds: 5 };

  it("one round is played by default", () => {
    expect(evenOdd.options.parse({ variant: "draw" })).toEqual({ variant: "draw", rounds_to_win: 1, max_rounds: 1 });
    expect(evenOdd.isTerminal(play({ variant: "draw" }, [["odd", "even"]]))).toBe(true);
  });

  it("choices are even and odd for both roles", () => {
    for (const role of evenOdd.roles) expect(evenOdd.legalActions(play(options, []), role)).toEqual(["even", "odd"]);
    expect(evenOdd.applyAction(play(options, []), "ODD", 3).ok).toBe(false);
  });

  it("the drawn number of a round is determined by the seed and the round", () => {
    const rounds =
      evenOdd.rounds?.(
        play(options, [
          ["odd", "odd"],
          ["even", "even"],
          ["odd", "odd"],
        ]),
      ) ?? [];
    expect(rounds.map(({ facts }) => facts.drawn_number)).toEqual([1, 2, 3].map((round) => drawnNumber("seed", round)));
    for (const { facts } of rounds) expect(facts.number_parity).toBe(parityOf(Number(facts.drawn_number)));
  });

  it("a player that is the only one to guess right wins the round", () => {
    const right = parityOf(drawnNumber("seed", 1));
    expect(play(options, [[right, otherThan(right)]]).scores).toEqual({ ODD: 1, EVEN: 0 });
    expect(play(options, [[otherThan(right), right]]).scores).toEqual({ ODD: 0, EVEN: 1 });
  });

  it("a round is a draw if both players guess right or both guess wrong", () => {
    for (const guess of ["even", "odd"] as const) {
      const state = play({ variant: "draw" }, [[guess, guess]]);
      expect(state.previous_rounds[0]?.winner).toBeNull();
      expect(evenOdd.outcome(state)).toEqual({ scores: { ODD: 0, EVEN: 0 }, reason: "draw" });
    }
  });

  it("numbers from 1 to 10 are equally likely over rounds and seeds", () => {
    const counts = new Map<number, number>();
    for (let n = 0; n < 10_000; n++) {
      const number = drawnNumber(`seed ${n % 100}`, Math.floor(n / 100) + 1);
      counts.set(number, (counts.get(number) ?? 0) + 1);
    }
    expect([...counts.keys()].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    // 1000 expected each; 3.5 standard deviations are 105.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(105);
  });

  it("the drawn number can be computed from the seed by hand", () => {
    const digits = sha256Hex("seed/round/1/0").slice(0, 8);
    expect(drawnNumber("seed", 1)).toBe((Number(`0x${digits}`) % 10) + 1);
  });

  it("no view contains the seed", () => {
    const state = play(options, [["odd", "even"]], "secret seed");
    expect(state.seed).toBe("secret seed");
    for (const viewer of [...evenOdd.roles, "spectator"])
      expect(evenOdd.viewState(state, viewer)).not.toHaveProperty("seed");
  });
});

describe("even_odd.v1, actions and options", () => {
  it("an action is 3, {number: 3}, even or odd (PROTOCOL.md, section 2)", () => {
    expect([3, { number: 3 }, "even", "odd"].map((action) => evenOdd.action.parse(action))).toEqual([
      3,
      3,
      "even",
      "odd",
    ]);
    for (const wrong of ["3", { number: "3" }, {}, [3], null, true, "EVEN"]) {
      expect(evenOdd.action.safeParse(wrong).success).toBe(false);
    }
  });

  it("inconsistent and unknown options are rejected", () => {
    const wrong = [
      { rounds_to_win: 4, max_rounds: 3 },
      { max_rounds: 51 },
      { rounds_to_win: 0 },
      { variant: "x" },
      { rounds: 3 },
    ];
    for (const options of wrong) expect(evenOdd.options.safeParse(options).success).toBe(false);
  });

  it("the longest game takes maxActions", () => {
    const rounds = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? oddWins : evenWins));
    const state = play({ rounds_to_win: 50, max_rounds: 50 }, rounds);
    expect([evenOdd.isTerminal(state), 2 * rounds.length]).toEqual([true, evenOdd.info.maxActions]);
  });
});
