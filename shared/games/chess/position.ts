import { Chess, type Color, type PieceSymbol, type Square, validateFen } from "chess.js";
import { err, ok, type Result } from "../../lib/result.ts";

/** The squares of the side to move's pieces; pawns first, whose moves are few and cheap to list. */
function ownSquares(fen: string): Square[] {
  const [placement = "", turn] = fen.split(" ", 2);
  const isWhite = turn === "w";
  const pawns: Square[] = [];
  const pieces: Square[] = [];
  for (const [index, rank] of placement.split("/").entries()) {
    let file = 0;
    for (const character of rank) {
      if (character >= "1" && character <= "8") {
        file += Number(character);
        continue;
      }
      const square = `${"abcdefgh"[file]}${8 - index}` as Square;
      if (isWhite === character < "a") (character === "P" || character === "p" ? pawns : pieces).push(square);
      file++;
    }
  }
  return [...pawns, ...pieces];
}

/** Whether the side to move has a legal move; stops at the first piece that has one. */
export const hasMove = (board: Chess, fen: string): boolean =>
  ownSquares(fen).some((square) => partsOf(board)._moves({ square }).length > 0);

/**
 * The parts that chess.js makes its public methods of. `move()` lists every legal move twice to name the move, and `moves()`
 * plays each of them to name it; a referee needs no names, so both are four times as fast without. The version is pinned, and
 * chess.test.ts holds these against the public methods.
 */
interface ChessParts {
  /** Legal moves, of one square or of all. */
  _moves(of?: { square?: Square }): readonly Step[];
  _makeMove(step: Step): void;
}

/** A move as chess.js has it inside: squares count 16 a rank from a8, which is 0. */
interface Step {
  /** The kind of piece in lower case. */
  readonly piece: string;
  readonly from: number;
  readonly to: number;
  readonly promotion?: string;
}

const partsOf = (board: Chess): ChessParts => board as unknown as ChessParts;

const squareOf = (index: number): string => `${"abcdefgh"[index & 15]}${8 - (index >> 4)}`;

const uciOf = ({ from, to, promotion = "" }: Step): string => squareOf(from) + squareOf(to) + promotion;

/** Every legal move as UCI, sorted. */
export const listMoves = (board: Chess): readonly string[] => partsOf(board)._moves().map(uciOf).sort();

/** Makes a move of a piece on `from`, given as UCI; false when it is not legal, and then the board is as it was. */
export function makeMove(board: Chess, from: Square, uci: string): boolean {
  const step = partsOf(board)
    ._moves({ square: from })
    .find((one) => uciOf(one) === uci);
  if (step) partsOf(board)._makeMove(step);
  return step !== undefined;
}

export const SAN = /^([KQRBNP])?([a-h])?([1-8])?[x-]?([a-h][1-8])(?:=?([QRBNqrbn]))?(?: ?e\.?p\.?)?[+#]?[!?]{0,2}$/;
export const CASTLING = /^[0Oo]-[0Oo](-[0Oo])?[+#]?[!?]{0,2}$/;
/** How far the king goes to castle, in squares along the rank. */
const CASTLES_BY = 2;

/**
 * The move that SAN names in a position ("Nf3", "exd8=Q+", "0-0", also with more than is needed to tell it), as UCI; null when it
 * names no legal move or several. chess.js would find a move in any text, and take the first of several.
 */
export function moveNamed(fen: string, san: string): string | null {
  const steps = stepsNamed(fen, san);
  return steps.length === 1 && steps[0] ? uciOf(steps[0]) : null;
}

function stepsNamed(fen: string, san: string): readonly Step[] {
  const castling = CASTLING.exec(san);
  const move = SAN.exec(san);
  if (!castling && !move) return [];
  const steps = partsOf(new Chess(fen))._moves();
  if (castling) {
    const by = castling[1] ? -CASTLES_BY : CASTLES_BY;
    return steps.filter(({ piece, from, to }) => piece === "k" && to - from === by);
  }
  const [, kind = "P", file, rank, to, promotion = ""] = move ?? [];
  return steps.filter((step) => {
    const [fromFile, fromRank] = squareOf(step.from);
    return (
      step.piece === kind.toLowerCase() &&
      squareOf(step.to) === to &&
      (file === undefined || file === fromFile) &&
      (rank === undefined || rank === fromRank) &&
      (step.promotion ?? "") === promotion.toLowerCase()
    );
  });
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
