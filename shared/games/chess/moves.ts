import type { Chess, Square } from "chess.js";

// The one file that calls undocumented methods of chess.js, whose version is pinned. The documented `move()` and `moves()` name each move
// in SAN, which a referee does not need. Median CPU time of one ply in five pairs of `scripts/bench/matches/chess.ts`: 135 µs by the
// documented methods, 35 µs by these (2 cores, Node 26.10, chess.js 1.4). chess.test.ts compares both.

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

/** Undocumented methods of chess.js. */
interface ChessParts {
  /** Legal moves, of one square or of all. */
  _moves(of?: { square?: Square }): readonly Step[];
  _makeMove(step: Step): void;
}

/** A move as chess.js has it inside: squares count 16 a rank from a8, which is 0. */
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

/** Makes a move of a piece on `from`, given as UCI; false when it is not legal, and then the board is as it was. */
export function makeMove(board: Chess, from: Square, uci: string): boolean {
  const step = partsOf(board)
    ._moves({ square: from })
    .find((one) => uciOf(one) === uci);
  if (step) partsOf(board)._makeMove(step);
  return step !== undefined;
}
