import { z } from "zod";
import { err, ok } from "../lib/result.ts";
import type { Game } from "./game.ts";

const ROLES = ["x", "o"] as const;
type Mark = (typeof ROLES)[number];

/** The cells row by row from top to bottom. Columns a to c count from the left, rows 1 to 3 from the bottom. */
const CELLS = ["a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1"] as const;
type TicTacToeAction = (typeof CELLS)[number];

/** The lines as indexes of CELLS: rows, columns and diagonals. */
const LINES = ["012", "345", "678", "036", "147", "258", "048", "246"].map((line) => [...line].map(Number));

/** The result of a game; `winner` is null for a draw. */
interface TicTacToeOutcome {
  readonly winner: Mark | null;
  readonly reason: "three_in_a_row" | "board_full";
}

export interface TicTacToeState {
  /** Three rows of "x", "o" and ".", from top to bottom. */
  readonly board: readonly string[];
  /** The role to act; null when the game is over. */
  readonly turn: Mark | null;
  readonly outcome: TicTacToeOutcome | null;
}

export type TicTacToeView = TicTacToeState;

const Options = z.strictObject({});
type TicTacToeOptions = z.infer<typeof Options>;

const CHOOSE = "choose an empty cell, a1 to c3";

const HOW_TO_PLAY =
  "Players mark an empty square in turn; X begins. You win with three of your marks in a row, in a column or on a diagonal. A full board is a draw.";
const RULES = `Tic-tac-toe. The role x begins. In its turn a player marks an empty cell. Three marks in a row, column or diagonal win. A full board is a draw.
An action is a cell: the column letter and the row number, as the list of legal actions names them.`;

/** Tic-tac-toe: x begins, and three marks in a row, column or diagonal win. */
export const ticTacToe: Game<TicTacToeOptions, TicTacToeState, TicTacToeAction, TicTacToeView, Mark> = {
  id: "tic_tac_toe.v1",
  roles: ROLES,
  info: {
    name: "Tic-tac-toe",
    rules: RULES,
    howToPlay: HOW_TO_PLAY,
    simultaneous: false,
    hiddenInformation: false,
    maxActions: CELLS.length,
    board: "marks",
  },
  options: Options,
  action: z.enum(CELLS, CHOOSE),
  initialState: () => ({ board: ["...", "...", "..."], turn: "x", outcome: null }),
  toAct: (state) => (state.turn === null ? [] : [state.turn]),
  legalActions: (state, role) => (role === state.turn ? emptyCells(state) : []),
  applyAction(state, role, action) {
    if (state.turn === null) return err({ message: "the game is over" });
    if (role !== state.turn) return err({ message: `it is ${state.turn}'s turn` });
    if (!emptyCells(state).includes(action)) return err({ message: CHOOSE });
    const at = CELLS.indexOf(action);
    const cells = state.board.join("");
    return ok(stateAfter(`${cells.slice(0, at)}${state.turn}${cells.slice(at + 1)}`, state.turn));
  },
  isTerminal: (state) => state.outcome !== null,
  outcome(state) {
    if (state.outcome === null) return null;
    const { winner, reason } = state.outcome;
    const scores = winner === null ? { x: 0.5, o: 0.5 } : { x: +(winner === "x"), o: +(winner === "o") };
    return { scores, reason };
  },
  viewState: (state) => state,
  toText: (state) => textOf(state),
};

function emptyCells({ board }: TicTacToeView): readonly TicTacToeAction[] {
  const cells = board.join("");
  return CELLS.filter((_, index) => cells[index] === ".");
}

/** Returns the state after a move that led to these cells. */
function stateAfter(cells: string, mover: Mark): TicTacToeState {
  const board = [cells.slice(0, 3), cells.slice(3, 6), cells.slice(6)];
  const outcome = outcomeOf(cells, mover);
  return { board, turn: outcome ? null : otherThan(mover), outcome };
}

/** Returns the outcome after a move. Only the role that has just moved can have three in a row. */
function outcomeOf(cells: string, mover: Mark): TicTacToeOutcome | null {
  const isWon = LINES.some((line) => line.every((index) => cells[index] === mover));
  if (isWon) return { winner: mover, reason: "three_in_a_row" };
  return cells.includes(".") ? null : { winner: null, reason: "board_full" };
}

const otherThan = (mark: Mark): Mark => (mark === "x" ? "o" : "x");

function textOf({ board, turn, outcome }: TicTacToeView): string {
  const rows = board.map((row, index) => `${3 - index}  ${[...row].join(" ")}`);
  const end =
    outcome && `The game is over: ${outcome.winner ? `${outcome.winner} wins` : "draw"} by ${outcome.reason}.`;
  return [...rows, "   a b c", end ?? `${turn} to move.`].join("\n");
}
