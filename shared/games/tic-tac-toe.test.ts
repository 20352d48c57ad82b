import { describe, expect, it } from "vitest";
import { createRandom } from "../lib/rng.ts";
import { applyLegal, playAtRandom } from "./contract/obligation.ts";
import { type TicTacToeState, ticTacToe } from "./tic-tac-toe.ts";

function play(moves: string): TicTacToeState {
  let state: unknown = ticTacToe.initialState({ options: {}, seed: "" });
  for (const move of moves.split(" ").filter(Boolean)) {
    state = applyLegal(ticTacToe, state, (state as TicTacToeState).turn ?? "", move);
  }
  return state as TicTacToeState;
}

const rejection = (state: TicTacToeState, role: string, action: unknown): string | null => {
  const applied = ticTacToe.applyAction(state, role, action as never);
  return applied.ok ? null : applied.error.message;
};

/** All lines, each with three cells of the opponent that do not form a line. */
const LINES = [
  ["a1 b1 c1", "a2 b2 c3"],
  ["a2 b2 c2", "a1 b1 c3"],
  ["a3 b3 c3", "a1 b1 c2"],
  ["a1 a2 a3", "b1 b2 c3"],
  ["b1 b2 b3", "a1 a2 c3"],
  ["c1 c2 c3", "a1 a2 b3"],
  ["a1 b2 c3", "a2 a3 c1"],
  ["a3 b2 c1", "a1 a2 c3"],
] as const;

const inTurn = (first: string, second: string): string => {
  const replies = second.split(" ");
  return first
    .split(" ")
    .map((move, index) => `${move} ${replies[index] ?? ""}`)
    .join(" ");
};

/** Returns whether a mark has a line, found in the text of the board and not with the table of lines. */
const hasLine = (board: readonly string[], mark: string): boolean =>
  ["^(...)*MMM", "M..M..M", "^M...M...M$", "^..M.M.M..$"].some((line) =>
    new RegExp(line.replaceAll("M", mark)).test(board.join("")),
  );

describe("tic_tac_toe.v1, a game", () => {
  it("x begins on an empty board", () => {
    const state = play("");
    expect(state).toEqual({ board: ["...", "...", "..."], turn: "x", outcome: null });
    expect([ticTacToe.toAct(state), ticTacToe.legalActions(state, "o")]).toEqual([["x"], []]);
    expect([...ticTacToe.legalActions(state, "x")].sort()).toEqual("a1 a2 a3 b1 b2 b3 c1 c2 c3".split(" "));
  });

  it("columns a to c count from the left, rows 1 to 3 from the bottom, and turns alternate", () => {
    expect(play("a1 c3 b1")).toEqual({ board: ["..o", "...", "xx."], turn: "o", outcome: null });
    expect(ticTacToe.toText(play("a1 c3 b1"), "spectator")).toBe("3  . . o\n2  . . .\n1  x x .\n   a b c\no to move.");
  });

  it.each(LINES)("the line %s wins for x and for o", (line, others) => {
    const byX = play(inTurn(line, others.slice(0, 5)));
    expect(byX).toMatchObject({ turn: null, outcome: { winner: "x", reason: "three_in_a_row" } });
    expect(ticTacToe.outcome(byX)).toEqual({ scores: { x: 1, o: 0 }, reason: "three_in_a_row" });
    const byO = play(inTurn(others, line));
    expect(byO).toMatchObject({ turn: null, outcome: { winner: "o", reason: "three_in_a_row" } });
    expect(ticTacToe.outcome(byO)).toEqual({ scores: { x: 0, o: 1 }, reason: "three_in_a_row" });
  });

  it("a full board without a line is a draw", () => {
    const state = play("b2 a1 c1 a3 a2 c2 b1 b3 c3");
    expect(state).toEqual({
      board: ["oox", "xxo", "oxx"],
      turn: null,
      outcome: { winner: null, reason: "board_full" },
    });
    expect(ticTacToe.outcome(state)).toEqual({ scores: { x: 0.5, o: 0.5 }, reason: "board_full" });
    expect(ticTacToe.toText(state, "x")).toContain("The game is over: draw by board_full.");
  });

  it("a line made by the last cell wins", () => {
    expect(play("a1 a2 b1 b2 b3 a3 c2 c3 c1").outcome).toEqual({ winner: "x", reason: "three_in_a_row" });
  });
});

describe("tic_tac_toe.v1, rejected actions", () => {
  it.each([
    ["an action in the other role's turn", "a1", "x", "b2", "it is o's turn"],
    ["a spectator", "a1", "spectator", "b2", "it is o's turn"],
    ["a cell that the opponent has marked", "a1", "o", "a1", "choose an empty cell, a1 to c3"],
    ["a cell that the role itself has marked", "a1 b2", "x", "a1", "choose an empty cell, a1 to c3"],
    ["a cell off the board", "", "x", "d1", "choose an empty cell, a1 to c3"],
    ["row 0", "", "x", "a0", "choose an empty cell, a1 to c3"],
    ["a cell with row and column exchanged", "", "x", "1a", "choose an empty cell, a1 to c3"],
    ["capitals", "", "x", "A1", "choose an empty cell, a1 to c3"],
    ["null", "", "x", null, "choose an empty cell, a1 to c3"],
    ["a number", "", "x", 0, "choose an empty cell, a1 to c3"],
    ["a list", "", "x", ["a1"], "choose an empty cell, a1 to c3"],
    ["an action of the loser after a line", "a1 a2 b1 b2 c1", "o", "c3", "the game is over"],
    ["an action of the winner after a line", "a1 a2 b1 b2 c1", "x", "c3", "the game is over"],
    ["an action on a full board", "b2 a1 c1 a3 a2 c2 b1 b3 c3", "o", "a1", "the game is over"],
  ])("%s is rejected", (_name, moves, role, action, message) => {
    const state = play(moves);
    expect(rejection(state, role, action)).toBe(message);
    expect(ticTacToe.legalActions(state, role)).not.toContain(action);
  });

  it("an action is a cell, and there are no options", () => {
    expect(ticTacToe.action.parse("a1")).toBe("a1");
    for (const wrong of ["A1", "d1", "a4", "", 1, null, ["a1"], { cell: "a1" }]) {
      expect(ticTacToe.action.safeParse(wrong).success).toBe(false);
    }
    expect(ticTacToe.options.safeParse({ size: 4 }).success).toBe(false);
  });
});

describe("tic_tac_toe.v1, all games", () => {
  it("there are 255,168 games: x wins 131,184, o wins 77,904, 46,080 are draws, and the longest has maxActions moves", () => {
    const counts = { x: 0, o: 0, draw: 0, longest: 0 };
    const walk = (state: TicTacToeState, depth: number): void => {
      if (state.outcome) {
        counts[state.outcome.winner ?? "draw"]++;
        counts.longest = Math.max(counts.longest, depth);
        return;
      }
      const turn = state.turn ?? "x";
      for (const cell of ticTacToe.legalActions(state, turn)) {
        const applied = ticTacToe.applyAction(state, turn, cell);
        if (applied.ok) walk(applied.value, depth + 1);
      }
    };
    walk(play(""), 0);
    expect(counts).toEqual({ x: 131_184, o: 77_904, draw: 46_080, longest: ticTacToe.info.maxActions });
  });

  it("the winner matches the text of the board at every step of 500 random games", () => {
    const random = createRandom("tic-tac-toe");
    for (let n = 0; n < 500; n++) {
      for (const state of playAtRandom(ticTacToe as never, {}, "", random).states as TicTacToeState[]) {
        const winner = ["x", "o"].find((mark) => hasLine(state.board, mark)) ?? null;
        expect([state.outcome?.winner ?? null, state.outcome?.reason]).toEqual([
          winner,
          winner ? "three_in_a_row" : state.board.join("").includes(".") ? undefined : "board_full",
        ]);
      }
    }
  });
});
