import { Chess, type Move, type PieceSymbol, type Square } from "chess.js";
import { PIECE_KINDS } from "./pieces.ts";
import { CASTLING, SAN } from "./position.ts";

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
