import { Chess, type Color, type Move, type PieceSymbol, type Square, validateFen } from "chess.js";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { PIECE_KINDS } from "./terms.ts";

const SAN = /^([KQRBNP])?([a-h])?([1-8])?[x-]?([a-h][1-8])(?:=?([QRBNqrbn]))?(?: ?e\.?p\.?)?[+#]?[!?]{0,2}$/;
const CASTLING = /^[0Oo]-[0Oo](-[0Oo])?[+#]?[!?]{0,2}$/;

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

// Only this file calls undocumented methods of chess.js, whose version is pinned. chess.test.ts compares them with the
// documented methods. The documented `move()` and `moves()` also compute the SAN of each move, which a referee does not
// need. Median CPU time of one ply in five pairs of `scripts/bench/matches/chess.ts` (2 cores, Node 26.10, chess.js
// 1.4): 135 µs with the documented methods, 35 µs with these. The time of `move()` depends on its argument and on the
// version. With `{from, to}` or SAN it takes 67 to 91 µs, with a UCI string 180 to 190 µs, because its SAN parser then
// compares the string with the SAN of every legal move. chess.js 1.0 to 1.2 need 37 to 45 µs and 101 to 104 µs: since
// version 1.3 every move also updates a hash, which is a BigInt.

/**
 * Returns the squares of the pieces of the side to move. Pawns come first, because their moves are few and cheap to
 * list.
 */
function squaresToMove(fen: string): Square[] {
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

/** Returns whether the side to move has a legal move. Stops at the first piece that has one. */
export const hasMove = (board: Chess, fen: string): boolean =>
  squaresToMove(fen).some((square) => partsOf(board)._moves({ square }).length > 0);

/** Undocumented methods of chess.js. */
interface ChessParts {
  /** Returns the legal moves of one square or of all squares. */
  _moves(of?: { square?: Square }): readonly Step[];
  _makeMove(step: Step): void;
}

/** A move in the internal form of chess.js: a square is a number, 16 for each rank, counted from a8, which is 0. */
interface Step {
  readonly from: number;
  readonly to: number;
  readonly promotion?: string;
}

const partsOf = (board: Chess): ChessParts => board as unknown as ChessParts;

const squareOf = (index: number): string => `${"abcdefgh"[index & 15]}${8 - (index >> 4)}`;

const uciOf = ({ from, to, promotion = "" }: Step): string => squareOf(from) + squareOf(to) + promotion;

/** Returns all legal moves in UCI, sorted. */
export const listMoves = (board: Chess): readonly string[] => partsOf(board)._moves().map(uciOf).sort();

/**
 * Makes a move of the piece on `from`, given in UCI. Returns false if it is not legal, and then leaves the board
 * unchanged.
 */
export function makeMove(board: Chess, from: Square, uci: string): boolean {
  const step = partsOf(board)
    ._moves({ square: from })
    .find((candidate) => uciOf(candidate) === uci);
  if (step) partsOf(board)._makeMove(step);
  return step !== undefined;
}

const UCI = /^([a-h][1-8])[-x]?([a-h][1-8])=?([qrbn])?$/i;

/** Returns the reason, for a player, why a text in UCI or SAN is not a legal move in a position. */
export function explainIllegalMove(fen: string, text: string): string {
  const board = new Chess(fen);
  const check = board.inCheck() ? `; ${sideOf(board)} is in check` : "";
  const castling = CASTLING.exec(text);
  if (castling) return `${sideOf(board)} cannot castle on the ${castling[1] ? "queen's" : "king's"} side now${check}`;
  const squares = UCI.exec(text);
  if (squares) return explainUci(board, squares, check);
  const san = SAN.exec(text);
  if (san) return explainSan(board, san, text, check);
  return "it is neither a move in UCI (e2e4, e7e8q) nor in SAN (Nf3, O-O, e8=Q)";
}

const sideOf = (board: Chess): string => (board.turn() === "w" ? "white" : "black");
const joinMoves = (moves: readonly Move[]): string =>
  moves
    .map(({ from, to, promotion = "" }) => from + to + promotion)
    .sort()
    .join(" or ");

function explainUci(board: Chess, [, from = "", to = "", promotion]: RegExpExecArray, check: string): string {
  const [source, target] = [from.toLowerCase() as Square, to.toLowerCase()];
  const piece = board.get(source);
  if (!piece) return `there is no piece on ${source}`;
  if (piece.color !== board.turn()) return `the piece on ${source} is not ${sideOf(board)}'s`;
  const moves = board.moves({ verbose: true, square: source }).filter((move) => move.to === target);
  if (moves.some((move) => move.promotion) && !promotion) {
    return `the pawn promotes on ${target}: add the piece (q, r, b or n), e.g. ${source}${target}q`;
  }
  if (moves.length > 0 && promotion) return `${source}${target} is not a promotion: leave out ${promotion}`;
  return `the ${PIECE_KINDS[piece.type]} on ${source} cannot go to ${target}${check}`;
}

function explainSan(board: Chess, san: RegExpExecArray, text: string, check: string): string {
  const [, letter = "P", file, rank, to = "", promotion] = san;
  const kind = letter.toLowerCase() as PieceSymbol;
  const toTarget = board.moves({ verbose: true }).filter((move) => move.piece === kind && move.to === to);
  const matching = toTarget.filter(
    ({ from }) => (file === undefined || from[0] === file) && (rank === undefined || from[1] === rank),
  );
  if (toTarget.length === 0) return `no ${PIECE_KINDS[kind]} of ${sideOf(board)} can go to ${to}${check}`;
  if (matching.length === 0)
    return `no ${PIECE_KINDS[kind]} from there can go to ${to}, but ${joinMoves(toTarget)} is legal`;
  if (matching.some((move) => move.promotion) && !promotion) {
    return `the pawn promotes on ${to}: add the piece (Q, R, B or N), e.g. ${text.replace(/[+#!?]*$/, "")}=Q`;
  }
  if (promotion && !matching.some((move) => move.promotion)) return `${to} is not a promotion: leave out =${promotion}`;
  return `it matches several moves: write ${joinMoves(matching)}`;
}
