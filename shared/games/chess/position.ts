import { Chess, type Color, type Move, type PieceSymbol, type Square, validateFen } from "chess.js";
import { err, ok, type Result } from "../../lib/result.ts";
import { hasMove } from "./moves.ts";

export const SAN = /^([KQRBNP])?([a-h])?([1-8])?[x-]?([a-h][1-8])(?:=?([QRBNqrbn]))?(?: ?e\.?p\.?)?[+#]?[!?]{0,2}$/;
export const CASTLING = /^[0Oo]-[0Oo](-[0Oo])?[+#]?[!?]{0,2}$/;

/**
 * The move that SAN names in a position ("Nf3", "exd8=Q+", "0-0", also with more than is needed to tell it), as UCI; null when it
 * names no legal move or several. chess.js would find a move in any text, and take the first of several.
 */
export function moveNamed(fen: string, san: string): string | null {
  const steps = stepsNamed(fen, san);
  return steps.length === 1 && steps[0] ? steps[0].lan : null;
}

function stepsNamed(fen: string, san: string): readonly Move[] {
  const castling = CASTLING.exec(san);
  const move = SAN.exec(san);
  if (!castling && !move) return [];
  const steps = new Chess(fen).moves({ verbose: true });
  if (castling) return steps.filter((step) => (castling[1] ? step.isQueensideCastle() : step.isKingsideCastle()));
  const [, kind = "P", file, rank, to, promotion = ""] = move ?? [];
  return steps.filter(
    (step) =>
      step.piece === kind.toLowerCase() &&
      step.to === to &&
      (file === undefined || file === step.from[0]) &&
      (rank === undefined || rank === step.from[1]) &&
      (step.promotion ?? "") === promotion.toLowerCase(),
  );
}

/**
 * A start position in the normal form of chess.js (an en passant square only where the capture is legal), or what is wrong
 * with it. chess.js alone would let a game begin with castling rights without a rook, or with the king there to be taken.
 */
export function startPosition(fen: string): Result<string, string> {
  const shape = validateFen(fen);
  if (!shape.ok) return err(shape.error ?? "Invalid FEN");
  const board = new Chess(fen);
  // Also refuses what the loose number and castling parsers of chess.js took.
  if (board.fen({ forceEnpassantSquare: true }) !== fen) return err("Invalid FEN: not in standard form");
  const fault = faultOf(board, fen) ?? overAlready(board, fen);
  return fault === null ? ok(board.fen()) : err(`Invalid FEN: ${fault}`);
}

function faultOf(board: Chess, fen: string): string | null {
  const [placement = "", turn, castling = "", enPassant = "-"] = fen.split(" ");
  for (const [color, side] of [
    ["white", /[A-Z]/g],
    ["black", /[a-z]/g],
  ] as const) {
    const pieces = placement.match(side) ?? [];
    // `maxActions` counts on this: more men would have more irreversible moves.
    if (pieces.length > 16) return `more than 16 ${color} pieces`;
    if (pieces.filter((piece) => piece.toLowerCase() === "p").length > 8) return `more than 8 ${color} pawns`;
  }
  const [us, them] = turn === "w" ? (["w", "b"] as const) : (["b", "w"] as const);
  const [king] = board.findPiece({ type: "k", color: them });
  if (king !== undefined && board.isAttacked(king, us)) return "the side not to move is in check";
  if (![...castling].every((right) => mayCastle(board, right))) return "castling right without king and rook at home";
  if (!mayTakeEnPassant(board, enPassant, them)) return "no pawn has just passed the en passant square";
  return null;
}

function mayCastle(board: Chess, right: string): boolean {
  if (right === "-") return true;
  const color = right < "a" ? "w" : "b";
  const rank = color === "w" ? "1" : "8";
  const file = right.toLowerCase() === "k" ? "h" : "a";
  return holds(board, `e${rank}`, "k", color) && holds(board, `${file}${rank}`, "r", color);
}

function mayTakeEnPassant(board: Chess, square: string, passed: Color): boolean {
  if (square === "-") return true;
  const [file, from, to] = passed === "w" ? [square[0], 2, 4] : [square[0], 7, 5];
  const empty = (at: string) => board.get(at as Square) === undefined;
  return empty(square) && empty(`${file}${from}`) && holds(board, `${file}${to}`, "p", passed);
}

function holds(board: Chess, square: string, type: PieceSymbol, color: Color): boolean {
  const piece = board.get(square as Square);
  return piece?.type === type && piece.color === color;
}

function overAlready(board: Chess, fen: string): string | null {
  if (!hasMove(board, fen)) return "the side to move has no legal move";
  if (board.isInsufficientMaterial()) return "neither side can mate";
  return board.isDrawByFiftyMoves() ? "the fifty-move rule has ended the game" : null;
}
