import { z } from "zod";
import { err, ok } from "../lib/result.ts";
import type { Game } from "./game.ts";

const ROLES = ["red", "yellow"] as const;
type Color = (typeof ROLES)[number];

const COLUMNS = [1, 2, 3, 4, 5, 6, 7] as const;
const ROWS = 6;
const EMPTY_ROW = ".".repeat(COLUMNS.length);
const DISC = { red: "r", yellow: "y" } as const;
/** Steps in rows and columns: along a row, along a column and along both diagonals. */
const DIRECTIONS = [
  [0, 1],
  [1, 0],
  [1, 1],
  [1, -1],
] as const;

/** The column in which a disc is dropped, 1 to 7 from the left. */
type ConnectFourAction = number;

/** The result of a game; `winner` is null for a draw. */
interface ConnectFourOutcome {
  readonly winner: Color | null;
  readonly reason: "four_in_a_row" | "board_full";
}

export interface ConnectFourState {
  /** Six rows of "r", "y" and ".", from top to bottom. */
  readonly board: readonly string[];
  /** The role to act; null when the game is over. */
  readonly turn: Color | null;
  readonly outcome: ConnectFourOutcome | null;
}

export type ConnectFourView = ConnectFourState;

const Options = z.strictObject({});
type ConnectFourOptions = z.infer<typeof Options>;

const CHOOSE = "choose a column from 1 to 7 that is not full";
const Column = z.union([z.literal(COLUMNS), z.enum(["1", "2", "3", "4", "5", "6", "7"]).transform(Number)], CHOOSE);
/** Also accepts `"4"` and `{"column": 4}`. */
const Action: z.ZodType<ConnectFourAction> = z.union(
  [Column, z.object({ column: Column }).transform(({ column }) => column)],
  CHOOSE,
);

const HOW_TO_PLAY =
  "Players drop a disc into a column in turn; Red begins. The disc falls to the lowest free place. You win with four of your discs in a line, in any direction. A full board is a draw.";
const RULES = `Connect Four. Red begins. In its turn a player drops a disc into a column that is not full. Four discs in a line, in any direction, win. A full
board is a draw. An action is the number of the column, as the list of legal actions names it.`;

/**
 * Connect Four (Milton Bradley, 1974): a disc falls to the lowest free cell of its column, and four discs in a line
 * win.
 */
export const connectFour: Game<ConnectFourOptions, ConnectFourState, ConnectFourAction, ConnectFourView, Color> = {
  id: "connect_four.v1",
  roles: ROLES,
  info: {
    name: "Connect Four",
    rules: RULES,
    howToPlay: HOW_TO_PLAY,
    simultaneous: false,
    hiddenInformation: false,
    maxActions: ROWS * COLUMNS.length,
    board: "discs",
  },
  options: Options,
  action: Action,
  initialState: () => ({ board: Array.from({ length: ROWS }, () => EMPTY_ROW), turn: "red", outcome: null }),
  toAct: (state) => (state.turn === null ? [] : [state.turn]),
  legalActions: (state, role) => (role === state.turn ? openColumns(state) : []),
  applyAction(state, role, action) {
    if (state.turn === null) return err({ message: "the game is over" });
    if (role !== state.turn) return err({ message: `it is ${state.turn}'s turn` });
    if (!openColumns(state).includes(action)) return err({ message: CHOOSE });
    return ok(drop(state.board, state.turn, action - 1));
  },
  isTerminal: (state) => state.outcome !== null,
  outcome(state) {
    if (state.outcome === null) return null;
    const { winner, reason } = state.outcome;
    const scores =
      winner === null ? { red: 0.5, yellow: 0.5 } : { red: +(winner === "red"), yellow: +(winner === "yellow") };
    return { scores, reason };
  },
  viewState: (state) => state,
  toText: (state) => textOf(state),
};

const openColumns = ({ board }: ConnectFourView): readonly ConnectFourAction[] =>
  COLUMNS.filter((column) => board[0]?.[column - 1] === ".");

/** Returns the state after a disc has fallen in an open column, which counts from 0. */
function drop(before: readonly string[], mover: Color, column: number): ConnectFourState {
  const row = before.findLastIndex((cells) => cells[column] === ".");
  const board = before.map((cells, index) =>
    index === row ? `${cells.slice(0, column)}${DISC[mover]}${cells.slice(column + 1)}` : cells,
  );
  const outcome = outcomeOf(board, mover, row, column);
  return { board, turn: outcome ? null : mover === "red" ? "yellow" : "red", outcome };
}

/** Returns the outcome after a disc has fallen. Only a line through this disc can be new. */
function outcomeOf(board: readonly string[], mover: Color, row: number, column: number): ConnectFourOutcome | null {
  const run = (down: number, right: number): number => {
    let length = 0;
    while (board[row + (length + 1) * down]?.[column + (length + 1) * right] === DISC[mover]) length++;
    return length;
  };
  const isWon = DIRECTIONS.some(([down, right]) => run(down, right) + 1 + run(-down, -right) >= 4);
  if (isWon) return { winner: mover, reason: "four_in_a_row" };
  return board[0]?.includes(".") ? null : { winner: null, reason: "board_full" };
}

function textOf({ board, turn, outcome }: ConnectFourView): string {
  const rows = board.map((row) => [...row].join(" "));
  const end =
    outcome && `The game is over: ${outcome.winner ? `${outcome.winner} wins` : "draw"} by ${outcome.reason}.`;
  return [...rows, COLUMNS.join(" "), end ?? `${turn} to move.`].join("\n");
}
