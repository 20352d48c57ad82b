import { describe, expect, test } from "vitest";
import { moveIn, readingOf } from "./incoming-answers.ts";

interface Request {
  readonly game_state: unknown;
  readonly your_role: string;
  readonly legal_actions?: readonly unknown[] | null;
  readonly tick: number;
}
const DRAW = { game: "even_odd.v1", request: { game_state: { variant: "draw" }, your_role: "ODD", tick: 0 } };
const SUM = { game: "even_odd.v1", request: { game_state: { variant: "sum" }, your_role: "ODD", tick: 0 } };
const OPEN = { result: null, choices: { player_1: null, player_2: null } };
const RPS = { game: "rps.v1", request: { game_state: OPEN, your_role: "player_1", tick: 0 } };
const TIC_TAC_TOE = { game: "tic_tac_toe.v1", request: { game_state: {}, your_role: "x", tick: 0 } };

/** Returns the move in an answer, or null. */
function moveOf(answer: unknown, { game, request }: { readonly game: string; readonly request: Request }): unknown {
  const turn = { game, request: { legal_actions: null, ...request } as never };
  const move = moveIn(readingOf({ status: 200, text: JSON.stringify(answer) }), turn);
  return move === null ? null : move.action;
}

describe("the move in an answer", () => {
  test.each<[string, unknown, unknown]>([
    ["in a field of the answer", { move: "rock" }, "rock"],
    ["as the result", { jsonrpc: "2.0", id: 1, result: "paper" }, "paper"],
    ["in an object that has a field for it", { result: { move_data: { choice: "rock" } } }, "rock"],
    ["in a field with an object, which is no move itself", { move: { choice: "scissors" } }, "scissors"],
    ["in an object in the field of a move", { choice: { move: "rock" } }, "rock"],
    ["as a number, which is no cell", { move: 4 }, 4],
    ["after a text that only acknowledges the request", { result: "OK", params: { move: "rock" } }, "rock"],
    ["in the first of the usual fields", { number: 3, answer: "paper", move: "rock" }, "rock"],
    [
      "in a field of a JSON-RPC request, not beside it",
      { jsonrpc: "2.0", move: "rock", params: { action: "paper" } },
      "paper",
    ],
  ])("is read %s", (_, answer, expected) => expect(moveOf(answer, RPS)).toEqual(expected));

  test.each([{}, { result: true }, { result: " ok" }, { result: "received" }, { status: "ACCEPTED" }])(
    "does not exist in %j",
    (answer) => expect(moveOf(answer, RPS)).toBeNull(),
  );

  test("is the listed action of this name, in any case", () => {
    const request = { ...RPS.request, legal_actions: [{ object: 1 }, "Rock", 7] };
    expect(moveOf({ move: " rOCK " }, { game: "unknown.v1", request })).toBe("Rock");
    expect(moveOf({ move: "7" }, { game: "unknown.v1", request })).toBe(7);
    expect(moveOf({ move: "[object Object]" }, { game: "unknown.v1", request })).toBe("[object Object]");
    expect(moveOf({ move: " 8 " }, { game: "unknown.v1", request })).toBe(" 8 ");
  });

  test("is an object if the game has such actions and the answer has no other move", () => {
    expect(moveOf({ action: { clue: "sea", count: 2 } }, { ...RPS, game: "unknown.v1" })).toEqual({
      clue: "sea",
      count: 2,
    });
  });

  test("is read as the game reads the moves of people", () => {
    expect(moveOf({ move: "ROCK" }, RPS)).toBe("rock");
  });
});

describe("a choice in even/odd", () => {
  test.each<[unknown, unknown]>([
    [{ parity_choice: "Even" }, "even"],
    [{ choice: " ODD " }, "odd"],
    [{ number: 3 }, "odd"],
    [{ choice: " 4 " }, "even"],
    [{ value: "seven" }, "seven"],
    [{ choice: true }, true],
    [{ number: 2, choice: "odd" }, "odd"],
    [{ number: 1.5, choice: "x" }, "x"],
    [{}, null],
  ])("of a parity is read from %j", (answer, expected) => expect(moveOf(answer, DRAW)).toBe(expected));

  test.each<[unknown, unknown]>([
    [{ number: 5, choice: "even" }, 5],
    [{ choice: "-3" }, -3],
    [{ choice: "1 or 2" }, "1 or 2"],
    [{ choice: "even" }, 2],
    [{ choice: "odd" }, 1],
    [{ status: "ok" }, null],
  ])("of a number is read from %j", (answer, expected) => expect(moveOf(answer, SUM)).toBe(expected));

  test("is that of the variant with a draw if the view has no variant", () => {
    expect(moveOf({ number: 3 }, { ...DRAW, request: { ...DRAW.request, game_state: null } })).toBe("odd");
  });

  test("of a parity becomes different numbers in the turns of a match of numbers", () => {
    const numbers = (choice: string) =>
      [0, 1, 2, 4, 6].map((tick) => moveOf({ choice }, { ...SUM, request: { ...SUM.request, tick } }));
    expect([numbers("even"), numbers("odd")]).toEqual([
      [2, 2, 4, 2, 4],
      [1, 1, 3, 5, 1],
    ]);
  });
});

test.each<[unknown, unknown]>([
  [{ row: 0, col: 0 }, "a3"],
  [{ row: "2", column: 1 }, "b1"],
  [{ row: 3, col: 1 }, "a1"],
  [{ row: 1, col: 3 }, "c3"],
  [{ move: { r: 1, c: 2 } }, "c2"],
  [{ position: 0 }, "a3"],
  [{ cell: 8 }, "c1"],
  [{ move: 9 }, 9],
  [{ move: -1 }, -1],
  [{ move: 2.5 }, 2.5],
  [{ row: 1, move: "b2" }, "b2"],
  [{ col: 1, move: "b2" }, "b2"],
])("a cell of tic-tac-toe is read from %j", (answer, expected) => expect(moveOf(answer, TIC_TAC_TOE)).toBe(expected));

test("row and column are no move of another game", () => {
  expect(moveOf({ row: 1, col: 1, move: "rock" }, RPS)).toBe("rock");
});
