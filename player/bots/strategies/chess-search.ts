import {
  type Board,
  fromOf,
  isInCheck,
  keyOf,
  listMoves,
  type Move,
  make,
  OFF_BOARD,
  promotionOf,
  toOf,
} from "./chess-board.ts";

/** The number of positions of a search: a move takes about 6 ms of CPU time, and the first one of a process 45 ms. The limit is a number and not a time, so that a run can be repeated with its seed. */
const MAX_POSITIONS = 6_000;
const MAX_DEPTH = 12;
const MATE = 100_000;

/** The positions that a search may still visit. */
interface Budget {
  positions: number;
}

/**
 * Returns the best move by iterative deepening, alpha-beta and a search of captures. `played` has the keys of the earlier positions of the match: a move
 * that repeats one of them counts as a draw. Moves of equal value: the first of `moves`, which the caller may shuffle.
 */
export function bestMove(board: Board, moves: readonly Move[], played: ReadonlySet<string>): Move {
  const budget: Budget = { positions: MAX_POSITIONS };
  let ranked = [...moves];
  for (let depth = 1; depth <= MAX_DEPTH; depth++) {
    const values = searchRoot(board, ranked, depth, played, budget);
    // An unfinished depth has values for its first moves only, and the first is the best one of the previous depth.
    if (values.size > 0)
      ranked = ranked.toSorted((a, b) => (values.get(b) ?? -Infinity) - (values.get(a) ?? -Infinity));
    if (budget.positions <= 0 || Math.abs(values.get(ranked[0] as Move) ?? 0) > MATE / 2) break;
  }
  return ranked[0] as Move;
}

/** Returns the values of the moves that were searched completely. Moves that are worse than the best one have an upper bound as their value. */
function searchRoot(
  board: Board,
  moves: readonly Move[],
  depth: number,
  played: ReadonlySet<string>,
  budget: Budget,
): ReadonlyMap<Move, number> {
  const values = new Map<Move, number>();
  let best = -Infinity;
  for (const move of moves) {
    const takeBack = make(board, move);
    const isRepetition = played.has(keyOf(board));
    const value = isRepetition ? 0 : -search(board, depth - 1, -Infinity, -best, 1, budget);
    takeBack();
    if (budget.positions <= 0) break;
    // A later move of equal value must not overtake the first one.
    values.set(move, value > best ? value : Math.min(value, best - 1));
    best = Math.max(best, value);
  }
  return values;
}

/** The value of a position for the side to move. `ply` is the distance from the root: a mate in fewer plies is better. */
function search(board: Board, depth: number, alpha: number, beta: number, ply: number, budget: Budget): number {
  if (depth <= 0) return searchCaptures(board, alpha, beta, budget);
  if (budget.positions-- <= 0) return 0;
  let lower = alpha;
  let hasMove = false;
  const side = board.turn;
  for (const move of inOrder(board, listMoves(board, false))) {
    const takeBack = make(board, move);
    if (isInCheck(board, side)) {
      takeBack();
      continue;
    }
    hasMove = true;
    const value = -search(board, depth - 1, -beta, -lower, ply + 1, budget);
    takeBack();
    lower = Math.max(lower, value);
    if (lower >= beta) return lower;
  }
  if (hasMove) return lower;
  return isInCheck(board, side) ? ply - MATE : 0;
}

/** The value of a position after the captures in it, so that a search does not end in the middle of an exchange. */
function searchCaptures(board: Board, alpha: number, beta: number, budget: Budget): number {
  budget.positions--;
  const value = evaluate(board);
  if (value >= beta) return value;
  let lower = Math.max(alpha, value);
  const side = board.turn;
  for (const move of inOrder(board, listMoves(board, true))) {
    const takeBack = make(board, move);
    if (!isInCheck(board, side)) lower = Math.max(lower, -searchCaptures(board, -beta, -lower, budget));
    takeBack();
    if (lower >= beta) break;
  }
  return lower;
}

/** Sorts moves: the capture of a valuable piece by a cheap one comes first. */
function inOrder({ squares }: Board, moves: Move[]): Move[] {
  const gainOf = (move: Move): number => {
    const captured = PIECE_VALUES[Math.abs(squares[toOf(move)] as number)] as number;
    const mover = Math.abs(squares[fromOf(move)] as number);
    return captured * 10 + (PIECE_VALUES[promotionOf(move)] as number) - (captured > 0 ? mover : 0);
  };
  const gains = new Map(moves.map((move) => [move, gainOf(move)]));
  return moves.sort((a, b) => (gains.get(b) as number) - (gains.get(a) as number));
}

/** The values of the pieces in hundredths of a pawn, from pawn to king, and the tables of squares: T. Michniewski, "Simplified Evaluation Function". */
const PIECE_VALUES = [0, 100, 320, 330, 500, 900, 0];

/** The values of the squares for white, rank 8 first. */
const TABLES = [
  [],
  [
    0, 0, 0, 0, 0, 0, 0, 0, 50, 50, 50, 50, 50, 50, 50, 50, 10, 10, 20, 30, 30, 20, 10, 10, 5, 5, 10, 25, 25, 10, 5, 5,
    0, 0, 0, 20, 20, 0, 0, 0, 5, -5, -10, 0, 0, -10, -5, 5, 5, 10, 10, -20, -20, 10, 10, 5, 0, 0, 0, 0, 0, 0, 0, 0,
  ],
  [
    -50, -40, -30, -30, -30, -30, -40, -50, -40, -20, 0, 0, 0, 0, -20, -40, -30, 0, 10, 15, 15, 10, 0, -30, -30, 5, 15,
    20, 20, 15, 5, -30, -30, 0, 15, 20, 20, 15, 0, -30, -30, 5, 10, 15, 15, 10, 5, -30, -40, -20, 0, 5, 5, 0, -20, -40,
    -50, -40, -30, -30, -30, -30, -40, -50,
  ],
  [
    -20, -10, -10, -10, -10, -10, -10, -20, -10, 0, 0, 0, 0, 0, 0, -10, -10, 0, 5, 10, 10, 5, 0, -10, -10, 5, 5, 10, 10,
    5, 5, -10, -10, 0, 10, 10, 10, 10, 0, -10, -10, 10, 10, 10, 10, 10, 10, -10, -10, 5, 0, 0, 0, 0, 5, -10, -20, -10,
    -10, -10, -10, -10, -10, -20,
  ],
  [
    0, 0, 0, 0, 0, 0, 0, 0, 5, 10, 10, 10, 10, 10, 10, 5, -5, 0, 0, 0, 0, 0, 0, -5, -5, 0, 0, 0, 0, 0, 0, -5, -5, 0, 0,
    0, 0, 0, 0, -5, -5, 0, 0, 0, 0, 0, 0, -5, -5, 0, 0, 0, 0, 0, 0, -5, 0, 0, 0, 5, 5, 0, 0, 0,
  ],
  [
    -20, -10, -10, -5, -5, -10, -10, -20, -10, 0, 0, 0, 0, 0, 0, -10, -10, 0, 5, 5, 5, 5, 0, -10, -5, 0, 5, 5, 5, 5, 0,
    -5, 0, 0, 5, 5, 5, 5, 0, -5, -10, 5, 5, 5, 5, 5, 0, -10, -10, 0, 5, 0, 0, 0, 0, -10, -20, -10, -10, -5, -5, -10,
    -10, -20,
  ],
  [
    -30, -40, -40, -50, -50, -40, -40, -30, -30, -40, -40, -50, -50, -40, -40, -30, -30, -40, -40, -50, -50, -40, -40,
    -30, -30, -40, -40, -50, -50, -40, -40, -30, -20, -30, -30, -40, -40, -30, -30, -20, -10, -20, -20, -20, -20, -20,
    -20, -10, 20, 20, 0, 0, 0, 0, 20, 20, 20, 30, 10, 0, 0, 10, 30, 20,
  ],
];
/** The king's table when few pieces are left. */
const KING_IN_ENDGAME = [
  -50, -40, -30, -20, -20, -30, -40, -50, -30, -20, -10, 0, 0, -10, -20, -30, -30, -10, 20, 30, 30, 20, -10, -30, -30,
  -10, 30, 40, 40, 30, -10, -30, -30, -10, 30, 40, 40, 30, -10, -30, -30, -10, 20, 30, 30, 20, -10, -30, -30, -30, 0, 0,
  0, 0, -30, -30, -50, -30, -30, -30, -30, -30, -30, -50,
];
const KING = 6;
/** The material of both sides without pawns below which the endgame begins: about two rooks and two minor pieces. */
const ENDGAME_MATERIAL = 1_700;
/** In an endgame the stronger side drives the other king to the edge and comes nearer with its own; this is the value of a step. */
const PER_STEP = 10;

/** Returns the value of a position for the side to move, in hundredths of a pawn. */
function evaluate({ squares, turn, kings }: Board): number {
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
