import { type Board, OFF_BOARD } from "./board.ts";

/** The values of the pieces in hundredths of a pawn, from pawn to king, and the tables of squares: T. Michniewski, "Simplified Evaluation Function". */
export const PIECE_VALUES = [0, 100, 320, 330, 500, 900, 0];

/** The values of the squares for white, rank 8 first. */
const TABLES = [
  [],
  [
    ...[
      0, 0, 0, 0, 0, 0, 0, 0, 50, 50, 50, 50, 50, 50, 50, 50, 10, 10, 20, 30, 30, 20, 10, 10, 5, 5, 10, 25, 25, 10, 5,
      5,
    ],
    ...[0, 0, 0, 20, 20, 0, 0, 0, 5, -5, -10, 0, 0, -10, -5, 5, 5, 10, 10, -20, -20, 10, 10, 5, 0, 0, 0, 0, 0, 0, 0, 0],
  ],
  [
    ...[-50, -40, -30, -30, -30, -30, -40, -50, -40, -20, 0, 0, 0, 0, -20, -40, -30, 0, 10, 15, 15, 10, 0, -30, -30, 5],
    ...[15, 20, 20, 15, 5, -30, -30, 0, 15, 20, 20, 15, 0, -30, -30, 5, 10, 15, 15, 10, 5, -30, -40, -20, 0, 5, 5, 0],
    ...[-20, -40, -50, -40, -30, -30, -30, -30, -40, -50],
  ],
  [
    ...[
      -20, -10, -10, -10, -10, -10, -10, -20, -10, 0, 0, 0, 0, 0, 0, -10, -10, 0, 5, 10, 10, 5, 0, -10, -10, 5, 5, 10,
    ],
    ...[10, 5, 5, -10, -10, 0, 10, 10, 10, 10, 0, -10, -10, 10, 10, 10, 10, 10, 10, -10, -10, 5, 0, 0, 0, 0, 5, -10],
    ...[-20, -10, -10, -10, -10, -10, -10, -20],
  ],
  [
    ...[0, 0, 0, 0, 0, 0, 0, 0, 5, 10, 10, 10, 10, 10, 10, 5, -5, 0, 0, 0, 0, 0, 0, -5, -5, 0, 0, 0, 0, 0, 0, -5],
    ...[-5, 0, 0, 0, 0, 0, 0, -5, -5, 0, 0, 0, 0, 0, 0, -5, -5, 0, 0, 0, 0, 0, 0, -5, 0, 0, 0, 5, 5, 0, 0, 0],
  ],
  [
    ...[
      -20, -10, -10, -5, -5, -10, -10, -20, -10, 0, 0, 0, 0, 0, 0, -10, -10, 0, 5, 5, 5, 5, 0, -10, -5, 0, 5, 5, 5, 5,
    ],
    ...[0, -5, 0, 0, 5, 5, 5, 5, 0, -5, -10, 5, 5, 5, 5, 5, 0, -10, -10, 0, 5, 0, 0, 0, 0, -10, -20, -10, -10, -5, -5],
    ...[-10, -10, -20],
  ],
  [
    ...[-30, -40, -40, -50, -50, -40, -40, -30, -30, -40, -40, -50, -50, -40, -40, -30, -30, -40, -40, -50, -50, -40],
    ...[-40, -30, -30, -40, -40, -50, -50, -40, -40, -30, -20, -30, -30, -40, -40, -30, -30, -20, -10, -20, -20, -20],
    ...[-20, -20, -20, -10, 20, 20, 0, 0, 0, 0, 20, 20, 20, 30, 10, 0, 0, 10, 30, 20],
  ],
];
/** The king's table when few pieces are left. */
const KING_IN_ENDGAME = [
  ...[
    -50, -40, -30, -20, -20, -30, -40, -50, -30, -20, -10, 0, 0, -10, -20, -30, -30, -10, 20, 30, 30, 20, -10, -30, -30,
  ],
  ...[
    -10, 30, 40, 40, 30, -10, -30, -30, -10, 30, 40, 40, 30, -10, -30, -30, -10, 20, 30, 30, 20, -10, -30, -30, -30, 0,
  ],
  ...[0, 0, 0, -30, -30, -50, -30, -30, -30, -30, -30, -30, -50],
];
const KING = 6;
/** The material of both sides without pawns below which the endgame begins: about two rooks and two minor pieces. */
const ENDGAME_MATERIAL = 1_700;
/** In an endgame the stronger side drives the other king to the edge and comes nearer with its own; this is the value of a step. */
const PER_STEP = 10;

/** Returns the value of a position for the side to move, in hundredths of a pawn. */
export function evaluate({ squares, turn, kings }: Board): number {
  let [value, pieces, kingless] = [0, 0, 0];
  for (let square = 0; square < 120; square++) {
    const found = squares[square] as number;
    if (found === 0 || (square & OFF_BOARD) !== 0) continue;
    const [piece, side] = found > 0 ? [found, 1] : [-found, -1];
    if (piece === KING) continue;
    if (piece > 1) pieces += PIECE_VALUES[piece] as number;
    kingless += side * (PIECE_VALUES[piece] as number);
    value +=
      side * ((PIECE_VALUES[piece] as number) + ((TABLES[piece] as number[])[tableIndex(square, side)] as number));
  }
  const isEndgame = pieces <= ENDGAME_MATERIAL;
  const kingTable = isEndgame ? KING_IN_ENDGAME : (TABLES[KING] as number[]);
  value += (kingTable[tableIndex(kings[0], 1)] as number) - (kingTable[tableIndex(kings[1], -1)] as number);
  if (isEndgame && Math.abs(kingless) > 300) {
    const [stronger, weaker] = kingless > 0 ? kings : [kings[1], kings[0]];
    value += Math.sign(kingless) * PER_STEP * (distanceFromCentre(weaker) - distance(stronger, weaker));
  }
  return turn * value;
}

/** The index of a square in a table, seen from its side. */
const tableIndex = (square: number, side: number): number =>
  (side === 1 ? 7 - (square >> 4) : square >> 4) * 8 + (square & 15);

const distance = (a: number, b: number): number =>
  Math.max(Math.abs((a >> 4) - (b >> 4)), Math.abs((a & 15) - (b & 15)));

const distanceFromCentre = (square: number): number =>
  Math.max(Math.abs((square >> 4) - 3.5), Math.abs((square & 15) - 3.5)) * 2;
