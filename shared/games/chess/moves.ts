import type { Chess, Square } from "chess.js";

// The only file that calls undocumented methods of chess.js, whose version is pinned; chess.test.ts compares them with the documented ones.
// The documented `move()` and `moves()` also write each move in SAN, which a referee does not need. Median CPU time of one ply in five pairs of
// `scripts/bench/matches/chess.ts` (2 cores, Node 26.10, chess.js 1.4): 135 µs by the documented methods, 35 µs by these.
//
// The time of `move()` alone depends on two things. With `{from, to}` or SAN it takes 67 to 91 µs; with a UCI string it takes 180 to 190 µs, because
// its parser of SAN then compares the string with the SAN of every legal move. chess.js 1.0 to 1.2 need 37 to 45 µs and 101 to 104 µs:
// since 1.3 every move also updates a hash, which is a BigInt.

/** The squares of the pieces of the side to move; pawns first, because their moves are the fewest and the fastest to list. */
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

/** Undocumented methods of chess.js. */
interface ChessParts {
  /** Legal moves, of one square or of all. */
  _moves(of?: { square?: Square }): readonly Step[];
  _makeMove(step: Step): void;
}

/** A move as chess.js stores it. A square is 16 times the ranks below the eighth, plus its file: a8 is 0, h1 is 119. */
interface Step {
  readonly from: number;
  readonly to: number;
  readonly promotion?: string;
}

const partsOf = (board: Chess): ChessParts => board as unknown as ChessParts;

const squareOf = (index: number): string => `${"abcdefgh"[index & 15]}${8 - (index >> 4)}`;

const uciOf = ({ from, to, promotion = "" }: Step): string => squareOf(from) + squareOf(to) + promotion;

/** Every legal move as UCI, sorted. */
export const listMoves = (board: Chess): readonly string[] => partsOf(board)._moves().map(uciOf).sort();

/** Makes a move of a piece on `from`, given as UCI; false if it is not legal; the board is then unchanged. */
export function makeMove(board: Chess, from: Square, uci: string): boolean {
  const step = partsOf(board)
    ._moves({ square: from })
    .find((one) => uciOf(one) === uci);
  if (step) partsOf(board)._makeMove(step);
  return step !== undefined;
}
