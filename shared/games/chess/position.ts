import { Chess, type Color, type Move, type PieceSymbol, type Square, validateFen } from "chess.js";
import { err, ok, type Result } from "../../lib/result.ts";
import { hasMove } from "./moves.ts";

export const SAN = /^([KQRBNP])?([a-h])?([1-8])?[x-]?([a-h][1-8])(?:=?([QRBNqrbn]))?(?: ?e\.?p\.?)?[+#]?[!?]{0,2}$/;
export const CASTLING = /^[0Oo]-[0Oo](-[0Oo])?[+#]?[!?]{0,2}$/;

/**
 * Returns the UCI of the move that a SAN text names in a position ("Nf3", "exd8=Q+", "0-0", also with more
 * disambiguation than necessary). Returns null if it matches no legal move or several. chess.js would find a move in
 * any text, and take the first of several.
 */
export function uciOfSan(fen: string, san: string): string | null {
  const moves = movesMatching(fen, san);
  return moves.length === 1 && moves[0] ? moves[0].lan : null;
}

function movesMatching(fen: string, san: string): readonly Move[] {
  const castling = CASTLING.exec(san);
  const parts = SAN.exec(san);
  if (!castling && !parts) return [];
  const moves = new Chess(fen).moves({ verbose: true });
  if (castling) return moves.filter((move) => (castling[1] ? move.isQueensideCastle() : move.isKingsideCastle()));
  const [, kind = "P", file, rank, to, promotion = ""] = parts ?? [];
  return moves.filter(
    (move) =>
      move.piece === kind.toLowerCase() &&
      move.to === to &&
      (file === undefined || file === move.from[0]) &&
      (rank === undefined || rank === move.from[1]) &&
      (move.promotion ?? "") === promotion.toLowerCase(),
  );
}

/** Castling as the king's capture of its rook, and as the king's move. */
const CASTLING_CAPTURES: Readonly<Record<string, string>> = { e1h1: "e1g1", e1a1: "e1c1", e8h8: "e8g8", e8a8: "e8c8" };

/** Returns a move in UCI. Some engines write castling as in Chess960, as a capture of the own rook (e1h1); it is returned as the move of the king (e1g1). */
export function withoutRookCapture(fen: string, move: string): string {
  const castling = CASTLING_CAPTURES[move];
  return castling !== undefined && new Chess(fen).get(move.slice(0, 2) as Square)?.type === "k" ? castling : move;
}

/**
 * Returns a start position in the normal form of chess.js, with an en passant square only if the capture is legal, or
 * the fault of the FEN. chess.js accepts castling rights without a rook, and positions in which the king can be
 * captured.
 */
export function startPosition(fen: string): Result<string, string> {
  const shape = validateFen(fen);
  if (!shape.ok) return err(shape.error ?? "Invalid FEN");
  const board = new Chess(fen);
  // This also rejects malformed numbers and castling fields, which the parser of chess.js accepts.
  if (board.fen({ forceEnpassantSquare: true }) !== fen) return err("Invalid FEN: not in standard form");
  const fault = faultOf(board, fen) ?? endFault(board, fen);
  return fault === null ? ok(board.fen()) : err(`Invalid FEN: ${fault}`);
}

/**
 * Returns the start position that an opening book names by the fields of a FEN, of which the last ones may be missing. Books contain positions that are not
 * in standard form, and other programs play them. A castling right without king and rook, and an en passant square without a pawn that has just passed it,
 * have no effect and are removed. From a position after 50 moves without a capture or a pawn move the count begins again, because the game would be over.
 */
export function bookPosition(fields: readonly (string | undefined)[]): Result<string, string> {
  const [placement = "", turn = "", castling = "-", enPassant = "-", clock = "0", number = "1"] = fields;
  const side = turn.toLowerCase();
  const plain = `${placement} ${side} - - 0 1`;
  const shape = validateFen(plain);
  if (!shape.ok) return err(shape.error ?? "Invalid FEN");
  const board = new Chess(plain);
  const rights = [...castling].map((right) => CASTLING_FILES[right] ?? right);
  const other = rights.find((right) => !"KQkq-".includes(right));
  if (other !== undefined) return err(`Invalid FEN: castling with the rook on file ${other}, as in Chess960`);
  const usable = [..."KQkq"].filter((right) => rights.includes(right) && mayCastle(board, right)).join("");
  const square = enPassant.toLowerCase();
  const passed = mayTakeEnPassant(board, square, side === "w" ? "b" : "w") ? square : "-";
  const counters = `${Number(clock) >= MAX_HALF_MOVES ? 0 : Number(clock)} ${Math.max(1, Number(number))}`;
  return startPosition(`${placement} ${side} ${usable || "-"} ${passed} ${counters}`);
}

/** The castling rights of Shredder-FEN that mean the same in chess. */
const CASTLING_FILES: Readonly<Record<string, string>> = { H: "K", A: "Q", h: "k", a: "q" };
/** The plies without a capture or a pawn move after which a game is drawn. */
const MAX_HALF_MOVES = 100;

function faultOf(board: Chess, fen: string): string | null {
  const [placement = "", turn, castling = "", enPassant = "-"] = fen.split(" ");
  for (const [color, side] of [
    ["white", /[A-Z]/g],
    ["black", /[a-z]/g],
  ] as const) {
    const pieces = placement.match(side) ?? [];
    // `maxActions` depends on this limit: more pieces would have more irreversible moves.
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
  return hasPiece(board, `e${rank}`, "k", color) && hasPiece(board, `${file}${rank}`, "r", color);
}

function mayTakeEnPassant(board: Chess, square: string, passed: Color): boolean {
  if (square === "-") return true;
  const [file, from, to] = passed === "w" ? [square[0], 2, 4] : [square[0], 7, 5];
  const isEmpty = (name: string) => board.get(name as Square) === undefined;
  return isEmpty(square) && isEmpty(`${file}${from}`) && hasPiece(board, `${file}${to}`, "p", passed);
}

function hasPiece(board: Chess, square: string, type: PieceSymbol, color: Color): boolean {
  const piece = board.get(square as Square);
  return piece?.type === type && piece.color === color;
}

function endFault(board: Chess, fen: string): string | null {
  if (!hasMove(board, fen)) return "the side to move has no legal move";
  if (board.isInsufficientMaterial()) return "neither side can mate";
  return board.isDrawByFiftyMoves() ? "the fifty-move rule has ended the game" : null;
}
