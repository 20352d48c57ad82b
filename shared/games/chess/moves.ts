import type { Chess, Square } from "chess.js";

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
