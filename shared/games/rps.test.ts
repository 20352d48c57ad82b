import { describe, expect, it } from "vitest";
import { applyLegal } from "./contract/obligation.ts";
import { type RpsAction, type RpsState, rps } from "./rps.ts";

type Round = readonly [first: RpsAction, second: RpsAction];

function play(best_of: number, rounds: readonly Round[]): RpsState {
  let state: unknown = rps.initialState({ options: rps.options.parse({ best_of }), seed: "seed" });
  for (const [first, second] of rounds) {
    state = applyLegal(rps, applyLegal(rps, state, "player_1", first), "player_2", second);
  }
  return state as RpsState;
}

const firstWins: Round = ["rock", "scissors"];
const secondWins: Round = ["rock", "paper"];
const drawn: Round = ["rock", "rock"];

describe("rps.v1, a single round", () => {
  it("begins in phase commit without choices and result", () => {
    expect(rps.initialState({ options: rps.options.parse({}), seed: "seed" })).toEqual({
      phase: "commit",
      choices: { player_1: null, player_2: null },
      result: null,
    });
  });

  it.each([
    ["rock", "scissors", "player_1_wins"],
    ["scissors", "paper", "player_1_wins"],
    ["paper", "rock", "player_1_wins"],
    ["scissors", "rock", "player_2_wins"],
    ["paper", "scissors", "player_2_wins"],
    ["rock", "paper", "player_2_wins"],
    ["rock", "rock", "draw"],
    ["paper", "paper", "draw"],
    ["scissors", "scissors", "draw"],
  ] as const)("%s against %s is revealed with the result %s", (first, second, result) => {
    const choices = { player_1: first, player_2: second };
    expect(play(1, [[first, second]])).toEqual({ phase: "reveal", choices, result });
  });

  it("after one choice only the other player may choose", () => {
    const state = applyLegal(rps, play(1, []), "player_2", "paper") as RpsState;
    expect(rps.toAct(state)).toEqual(["player_1"]);
    expect(rps.legalActions(state, "player_2")).toEqual([]);
    expect(rps.applyAction(state, "player_2", "rock").ok).toBe(false);
    expect(state.phase).toBe("commit");
  });

  it("a choice is visible to the opponent only after both players have chosen", () => {
    const open = applyLegal(rps, play(1, []), "player_1", "rock") as RpsState;
    expect(rps.viewState(open, "player_1").choices).toEqual({ player_1: "rock", player_2: null });
    for (const viewer of ["player_2", "spectator"]) {
      expect(rps.viewState(open, viewer).choices).toEqual({ player_1: null, player_2: null });
    }
    const ended = applyLegal(rps, open, "player_2", "paper") as RpsState;
    for (const viewer of [...rps.roles, "spectator"]) expect(rps.viewState(ended, viewer)).toEqual(ended);
  });

  it("ends with a result", () => {
    const state = play(1, [secondWins]);
    expect([rps.isTerminal(state), rps.toAct(state)]).toEqual([true, []]);
    expect(rps.outcome(state)).toEqual({ scores: { player_1: 0, player_2: 1 }, reason: "rounds_won" });
    expect(rps.outcome(play(1, [drawn]))).toEqual({ scores: { player_1: 0, player_2: 0 }, reason: "draw" });
  });

  it("reports its only round after it has closed", () => {
    expect(rps.rounds?.(play(1, []))).toEqual([]);
    const moves = { player_1: "rock", player_2: "scissors" };
    expect(rps.rounds?.(play(1, [firstWins]))).toEqual([
      { round: 1, moves, winner: "player_1", scores: { player_1: 1, player_2: 0 }, facts: {} },
    ]);
  });
});

describe("rps.v1, best_of n", () => {
  it("the next round begins after a closed round, which is public", () => {
    const state = play(3, [secondWins]);
    expect(state).toMatchObject({ phase: "commit", choices: { player_1: null, player_2: null }, result: null });
    expect(state.series).toMatchObject({ best_of: 3, round: 2, scores: { player_1: 0, player_2: 1 } });
    expect(rps.viewState(state, "spectator").series?.previous_rounds).toHaveLength(1);
  });

  it("the last choices are revealed at the end", () => {
    expect(play(3, [firstWins, ["paper", "rock"]])).toMatchObject({
      phase: "reveal",
      choices: { player_1: "paper", player_2: "rock" },
      result: "player_1_wins",
    });
  });

  it.each([
    [2, [firstWins], null],
    [2, [firstWins, secondWins], "draw"],
    [3, [firstWins], null],
    [3, [firstWins, firstWins], "player_1_wins"],
    [3, [drawn, secondWins], null],
    [3, [drawn, secondWins, drawn], "player_2_wins"],
    [3, [drawn, drawn, drawn], "draw"],
    [4, [firstWins, firstWins], null],
    [5, [firstWins, drawn, firstWins], null],
    [5, [firstWins, drawn, firstWins, drawn], "player_1_wins"],
    [5, [secondWins, secondWins, secondWins], "player_2_wins"],
  ] as const)(
    "best of %i after %j has the result %j: draws count as rounds, and a lead that cannot be caught up ends the game",
    (bestOf, rounds, result) => {
      const state = play(bestOf, rounds);
      expect([state.result, rps.isTerminal(state)]).toEqual([result, result !== null]);
      expect(rps.rounds?.(state)).toHaveLength(rounds.length);
    },
  );

  it("best_of is a whole number from 1 to 99", () => {
    for (const best_of of [0, 100, 1.5, "3", null]) expect(rps.options.safeParse({ best_of }).success).toBe(false);
    expect(rps.options.parse({})).toEqual({ best_of: 1 });
  });

  it("the longest game takes maxActions", () => {
    const rounds = Array.from({ length: 99 }, () => drawn);
    expect([rps.isTerminal(play(99, rounds)), 2 * rounds.length]).toEqual([true, rps.info.maxActions]);
  });
});
