import type { Chess } from "chess.js";
import { hasMove } from "./moves.ts";

export type Color = "white" | "black";

/** The result of a game; `winner` is null for a draw. */
export interface ChessOutcome {
  readonly winner: Color | null;
  readonly reason:
    | "checkmate"
    | "stalemate"
    | "insufficient_material"
    | "threefold_repetition"
    | "fifty_moves"
    | "move_limit"
    | "resignation"
    | "draw_adjudicated"
    | "draw_agreed";
}

const FIFTY_MOVES_PLIES = 100;

/** Returns the number of plies before a position, if its FEN counts moves from the beginning. */
export const plyOf = (fen: string): number => 2 * moveNumberOf(fen) - (turnOf(fen) === "white" ? 2 : 1);

export const moveNumberOf = (fen: string): number => Number(fen.split(" ", 6)[5]);

export const turnOf = (fen: string): Color => (fen.split(" ", 2)[1] === "w" ? "white" : "black");

/**
 * Returns the parts that make two positions the same: placement, side to move, castling and en passant (FIDE Laws,
 * 9.2.3).
 */
export const positionKey = (fen: string): string => fen.split(" ", 4).join(" ");

/**
 * Returns the outcome of a position, or null. Checkmate takes precedence over every draw (FIDE Laws, 5.1.1 and 9.6.2).
 */
export function outcomeOf(
  board: Chess,
  mover: Color,
  fen: string,
  positions: readonly string[],
  clock: number,
): ChessOutcome | null {
  if (!hasMove(board, fen)) {
    return board.inCheck() ? { winner: mover, reason: "checkmate" } : { winner: null, reason: "stalemate" };
  }
  // Only a capture or a promotion can lead to insufficient material.
  if (clock === 0 && board.isInsufficientMaterial()) return { winner: null, reason: "insufficient_material" };
  const key = positions.at(-1);
  if (positions.filter((position) => position === key).length >= 3)
    return { winner: null, reason: "threefold_repetition" };
  return clock >= FIFTY_MOVES_PLIES ? { winner: null, reason: "fifty_moves" } : null;
}
