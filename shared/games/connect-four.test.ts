import { describe, expect, it } from "vitest";
import { createRandom } from "../lib/rng.ts";
import { type ConnectFourState, connectFour } from "./connect-four.ts";
import { applyLegal, playAtRandom } from "./contract/obligation.ts";

/** Plays moves, given as digits of columns. Red begins. */
function play(columns: string): ConnectFourState {
  let state: unknown = connectFour.initialState({ options: {}, seed: "" });
  for (const column of columns) {
    state = applyLegal(connectFour, state, (state as ConnectFourState).turn ?? "", Number(column));
  }
  return state as ConnectFourState;
}

/** Returns a position. Missing rows at the top are empty. */
const position = (turn: "red" | "yellow", ...rows: string[]): ConnectFourState => ({
  board: [...Array.from({ length: 6 - rows.length }, () => "......."), ...rows],
  turn,
  outcome: null,
});

const after = (state: ConnectFourState, column: number): ConnectFourState =>
  applyLegal(connectFour, state, state.turn ?? "", column) as ConnectFourState;

/**
 * Returns whether a disc has four in a line, found in the text of the board. The line break after each row prevents
 * lines that wrap.
 */
const hasFour = (board: readonly string[], disc: string): boolean =>
  [0, 7, 8, 6].some((gap) => new RegExp(`${disc}([^]{${gap}}${disc}){3}`).test(board.join("\n")));

const DRAWN = "365266524553727122152711376354461313464774";
const WON_BY_LAST_DISC = "754436631711522756516525163322726714744433";
const CHOOSE = "choose a column from 1 to 7 that is not full";

describe("connect_four.v1, a game", () => {
  it("red begins on an empty board of seven columns and six rows", () => {
    const state = play("");
    expect(state).toEqual(position("red"));
    expect([connectFour.toAct(state), connectFour.legalActions(state, "yellow")]).toEqual([["red"], []]);
    expect(connectFour.legalActions(state, "red")).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it("discs fall on top of each other, and turns alternate", () => {
    expect(play("4473")).toEqual(position("red", "...y...", "..yr..r"));
    const board = [
      ". . . . . . .",
      ". . . . . . .",
      ". . . . . . .",
      ". . . . . . .",
      ". . . y . . .",
      ". . y r . . r",
    ];
    expect(connectFour.toText(play("4473"), "spectator")).toBe([...board, "1 2 3 4 5 6 7", "red to move."].join("\n"));
  });

  it.each([
    ["a row from the left edge", "1122334", "red"],
    ["a row to the right edge", "7766554", "red"],
    ["a row closed in its middle", "1122443", "red"],
    ["a row above the lowest", "71122447373", "red"],
    ["a column", "1212121", "red"],
    ["a column of yellow at the edge", "17172737", "yellow"],
    ["a rising diagonal", "12234334744", "red"],
    ["a falling diagonal", "76654554144", "red"],
    ["five in a row", "112244553", "red"],
  ] as const)("%s wins: %s", (_name, columns, winner) => {
    expect(play(columns.slice(0, -1))).toMatchObject({ turn: winner, outcome: null });
    const state = play(columns);
    expect(state).toMatchObject({ turn: null, outcome: { winner, reason: "four_in_a_row" } });
    const scores = { red: winner === "red" ? 1 : 0, yellow: winner === "yellow" ? 1 : 0 };
    expect(connectFour.outcome(state)).toEqual({ scores, reason: "four_in_a_row" });
    expect(connectFour.toText(state, "red")).toContain(`The game is over: ${winner} wins by four_in_a_row.`);
  });

  it.each([
    ["three in a row, at the edge", position("red", "rr....."), 3],
    ["three in a column, up to the top", position("red", "r......", "r......", "y......", "y......", "r......"), 1],
    ["the end of a row and the beginning of the row below", position("red", "....rr.", "r...yyy"), 7],
    ["the end of a row and the beginning of the row above", position("red", "r......", "y...rr."), 7],
    ["a diagonal over the right edge", position("red", "r......", "y......", "y.....r", "r.....y", "y....ry"), 7],
    ["a gap in a row", position("red", "rr..r.."), 6],
  ])("%s does not win", (_name, start, column) => {
    expect(after(start, column)).toMatchObject({ turn: "yellow", outcome: null });
  });

  it("a full board without a line is a draw, after maxActions moves", () => {
    const state = play(DRAWN);
    expect(state).toMatchObject({ turn: null, outcome: { winner: null, reason: "board_full" } });
    expect(connectFour.outcome(state)).toEqual({ scores: { red: 0.5, yellow: 0.5 }, reason: "board_full" });
    expect(DRAWN).toHaveLength(connectFour.info.maxActions);
  });

  it("a line made by the last disc wins", () => {
    expect(WON_BY_LAST_DISC).toHaveLength(42);
    expect(play(WON_BY_LAST_DISC).outcome).toEqual({ winner: "yellow", reason: "four_in_a_row" });
  });
});

/** Returns all lines of the board as pairs of row (0 is the top) and column (0 is the left). */
function allLines(): (readonly [row: number, column: number])[][] {
  const lines: (readonly [number, number])[][] = [];
  for (let row = 0; row < 6; row++) {
    for (let column = 0; column < 7; column++) {
      for (const [down, right] of [
        [0, 1],
        [1, 0],
        [1, 1],
        [1, -1],
      ] as const) {
        const line = [0, 1, 2, 3].map((n) => [row + n * down, column + n * right] as const);
        const [lastRow, lastColumn] = line[3] as readonly [number, number];
        if (lastRow < 6 && lastColumn >= 0 && lastColumn < 7) lines.push(line);
      }
    }
  }
  return lines;
}

describe("connect_four.v1, lines", () => {
  it("all 69 lines win, for both colours, whichever disc of the line falls last", () => {
    expect(allLines()).toHaveLength(69);
    for (const line of allLines()) {
      for (const [row, column] of line) {
        // Only the highest disc of a column can fall last.
        if (line.some(([otherRow, otherColumn]) => otherColumn === column && otherRow < row)) continue;
        for (const [turn, mine, others] of [
          ["red", "r", "y"],
          ["yellow", "y", "r"],
        ] as const) {
          const board = Array.from({ length: 6 }, (_, r) =>
            Array.from({ length: 7 }, (_, c) => {
              if (r === row && c === column) return ".";
              if (line.some(([lineRow, lineColumn]) => lineRow === r && lineColumn === c)) return mine;
              return c === column && r > row ? others : ".";
            }).join(""),
          );
          const state = after({ board, turn, outcome: null }, column + 1);
          expect(state.outcome).toEqual({ winner: turn, reason: "four_in_a_row" });
        }
      }
    }
  });

  it("the winner matches the text of the board at every step of 500 random games", () => {
    const random = createRandom("connect four");
    for (let n = 0; n < 500; n++) {
      for (const state of playAtRandom(connectFour as never, {}, "", random).states as ConnectFourState[]) {
        const winner = (["red", "yellow"] as const).find((color) => hasFour(state.board, color.charAt(0))) ?? null;
        expect([state.outcome?.winner ?? null, state.outcome?.reason]).toEqual([
          winner,
          winner ? "four_in_a_row" : state.board.join("").includes(".") ? undefined : "board_full",
        ]);
      }
    }
  });
});

describe("connect_four.v1, rejected actions", () => {
  it.each([
    ["an action in the other role's turn", "1", "red", 2, "it is yellow's turn"],
    ["a spectator", "", "spectator", 2, "it is red's turn"],
    ["a full column", "111111", "red", 1, CHOOSE],
    ["column 0", "", "red", 0, CHOOSE],
    ["column 8", "", "red", 8, CHOOSE],
    ["a fraction", "", "red", 1.5, CHOOSE],
    ["not a number", "", "red", Number.NaN, CHOOSE],
    ["a text, not parsed", "", "red", "4", CHOOSE],
    ["an object, not parsed", "", "red", { column: 4 }, CHOOSE],
    ["a list", "", "red", [4], CHOOSE],
    ["null", "", "red", null, CHOOSE],
    ["an action of the loser after a line", "1122334", "yellow", 7, "the game is over"],
    ["an action of the winner after a line", "1122334", "red", 7, "the game is over"],
    ["an action on a full board", DRAWN, "red", 1, "the game is over"],
  ])("%s is rejected", (_name, columns, role, action, message) => {
    const state = play(columns);
    expect(connectFour.applyAction(state, role, action as number)).toEqual({ ok: false, error: { message } });
    expect(connectFour.legalActions(state, role)).not.toContain(action);
  });

  it("a full column is not a legal action", () => {
    expect(connectFour.legalActions(play("111111"), "red")).toEqual([2, 3, 4, 5, 6, 7]);
  });

  it('an action is 4, "4" or {column: 4} (PROTOCOL.md, section 2)', () => {
    const sent = [4, "4", { column: 4 }, { column: "4" }];
    expect(sent.map((action) => connectFour.action.parse(action))).toEqual([4, 4, 4, 4]);
    for (const wrong of [0, 8, 1.5, "0", "8", "04", " 4", "4\n", "", "four", [4], {}, { column: 9 }, null, true]) {
      expect(connectFour.action.safeParse(wrong).success).toBe(false);
    }
    expect(connectFour.options.safeParse({ columns: 8 }).success).toBe(false);
  });
});
