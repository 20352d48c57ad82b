/**
 * A board that makes and takes back moves in place, for the search of the bot `alphabeta`: chess.js needs 50 microseconds for a move, this board less
 * than one. It knows the moves of chess, but not the ends of games. A square has the index `16 * rank + file` ("0x88"): an index outside of the board
 * has a bit of 0x88 set.
 */
export interface Board {
  /** 1 to 6 for a white pawn, knight, bishop, rook, queen and king, negative for black, 0 for an empty square. */
  readonly squares: Int8Array;
  /** 1 if white is to move, -1 if black is. */
  turn: 1 | -1;
  /** A bit for each right to castle: 1 and 2 for white's king's and queen's side, 4 and 8 for black's. */
  castling: number;
  /** The square behind a pawn that has just moved two squares; -1 if there is none. */
  enPassant: number;
  /** The squares of the white and the black king. */
  readonly kings: [white: number, black: number];
}

const [PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING] = [1, 2, 3, 4, 5, 6];
export const OFF_BOARD = 0x88;
const LETTERS = ".pnbrqk";

/** A move in 17 bits: the squares from and to, and the piece of a promotion. */
export type Move = number;
const moveOf = (from: number, to: number, promotion = 0): Move => from | (to << 7) | (promotion << 14);
export const fromOf = (move: Move): number => move & 127;
export const toOf = (move: Move): number => (move >> 7) & 127;
export const promotionOf = (move: Move): number => move >> 14;

const nameOf = (square: number): string => `${"abcdefgh"[square & 15]}${(square >> 4) + 1}`;
const squareNamed = (name: string): number => (Number(name[1]) - 1) * 16 + "abcdefgh".indexOf(name[0] as string);

/** Returns a move in UCI: "e7e8q". */
export function uciOf(move: Move): string {
  const promotion = promotionOf(move);
  return `${nameOf(fromOf(move))}${nameOf(toOf(move))}${promotion === 0 ? "" : LETTERS[promotion]}`;
}

/** Returns the board of a FEN. */
export function boardOf(fen: string): Board {
  const [placement = "", turn, castling = "", enPassant = "-"] = fen.split(" ");
  const board: Board = {
    squares: new Int8Array(128),
    turn: turn === "b" ? -1 : 1,
    castling: [..."KQkq"].reduce((bits, letter, index) => bits | (castling.includes(letter) ? 1 << index : 0), 0),
    enPassant: enPassant === "-" ? -1 : squareNamed(enPassant),
    kings: [-1, -1],
  };
  for (const [index, rank] of placement.split("/").entries()) {
    let square = (7 - index) * 16;
    for (const letter of rank) {
      if (/\d/.test(letter)) {
        square += Number(letter);
        continue;
      }
      const piece = LETTERS.indexOf(letter.toLowerCase());
      const isWhite = letter !== letter.toLowerCase();
      if (piece === KING) board.kings[isWhite ? 0 : 1] = square;
      board.squares[square++] = isWhite ? piece : -piece;
    }
  }
  return board;
}

/** Returns a text that two boards have in common if they are the same position, as for a repetition. */
export const keyOf = ({ squares, turn, castling, enPassant }: Board): string =>
  `${squares.join("")} ${turn} ${castling} ${enPassant}`;

const KNIGHT_STEPS = [14, 18, 31, 33, -14, -18, -31, -33];
const DIAGONALS = [15, 17, -15, -17];
const STRAIGHTS = [1, 16, -1, -16];
const ALL_STEPS = [...DIAGONALS, ...STRAIGHTS];

/** Returns whether a side (1 or -1) attacks a square. */
function isAttacked({ squares }: Board, square: number, by: 1 | -1): boolean {
  for (const side of [-1, 1]) {
    const from = square - by * 16 + side;
    if ((from & OFF_BOARD) === 0 && squares[from] === by * PAWN) return true;
  }
  for (const step of KNIGHT_STEPS) {
    const from = square + step;
    if ((from & OFF_BOARD) === 0 && squares[from] === by * KNIGHT) return true;
  }
  for (const step of ALL_STEPS) {
    const slider = DIAGONALS.includes(step) ? BISHOP : ROOK;
    for (let from = square + step, distance = 1; (from & OFF_BOARD) === 0; from += step, distance++) {
      const piece = (squares[from] as number) * by;
      if (piece === 0) continue;
      if (piece === slider || piece === QUEEN || (piece === KING && distance === 1)) return true;
      break;
    }
  }
  return false;
}

/** Returns whether the king of a side is attacked. */
export const isInCheck = (board: Board, side: 1 | -1): boolean =>
  isAttacked(board, side === 1 ? board.kings[0] : board.kings[1], side === 1 ? -1 : 1);

/** Lists the moves of the side to move without regard to the safety of its king; only captures and promotions to a queen if `capturesOnly`. */
export function listMoves(board: Board, capturesOnly: boolean): Move[] {
  const { squares, turn } = board;
  const moves: Move[] = [];
  for (let from = 0; from < 120; from++) {
    if ((from & OFF_BOARD) !== 0) continue;
    const piece = (squares[from] as number) * turn;
    if (piece <= 0) continue;
    if (piece === PAWN) listPawnMoves(board, from, capturesOnly, moves);
    else listPieceMoves(board, from, piece, capturesOnly, moves);
  }
  if (!capturesOnly) listCastling(board, moves);
  return moves;
}

const STEPS: Readonly<Record<number, readonly number[]>> = {
  [KNIGHT as number]: KNIGHT_STEPS,
  [BISHOP as number]: DIAGONALS,
  [ROOK as number]: STRAIGHTS,
  [QUEEN as number]: ALL_STEPS,
  [KING as number]: ALL_STEPS,
};

function listPieceMoves(
  { squares, turn }: Board,
  from: number,
  piece: number,
  capturesOnly: boolean,
  moves: Move[],
): void {
  const isSlider = piece === BISHOP || piece === ROOK || piece === QUEEN;
  for (const step of STEPS[piece] as readonly number[]) {
    for (let to = from + step; (to & OFF_BOARD) === 0; to += step) {
      const target = (squares[to] as number) * turn;
      if (target > 0) break;
      if (target < 0 || !capturesOnly) moves.push(moveOf(from, to));
      if (target < 0 || !isSlider) break;
    }
  }
}

function listPawnMoves({ squares, turn, enPassant }: Board, from: number, capturesOnly: boolean, moves: Move[]): void {
  const forward = from + turn * 16;
  const [startRank, lastRank] = turn === 1 ? [1, 7] : [6, 0];
  const push = (to: number): void => {
    if (to >> 4 !== lastRank) moves.push(moveOf(from, to));
    else
      for (const piece of capturesOnly ? [QUEEN] : [QUEEN, KNIGHT, ROOK, BISHOP]) moves.push(moveOf(from, to, piece));
  };
  for (const side of [-1, 1]) {
    const to = forward + side;
    if ((to & OFF_BOARD) === 0 && ((squares[to] as number) * turn < 0 || to === enPassant)) push(to);
  }
  if (squares[forward] !== 0) return;
  if (!capturesOnly || forward >> 4 === lastRank) push(forward);
  const second = forward + turn * 16;
  if (!capturesOnly && from >> 4 === startRank && squares[second] === 0) moves.push(moveOf(from, second));
}

/** The squares of castling by its bit: those that must be empty, and those that the king stands on and passes. */
const CASTLING = [
  { bit: 1, side: 1, empty: [5, 6], safe: [4, 5], to: 6 },
  { bit: 2, side: 1, empty: [1, 2, 3], safe: [4, 3], to: 2 },
  { bit: 4, side: -1, empty: [117, 118], safe: [116, 117], to: 118 },
  { bit: 8, side: -1, empty: [113, 114, 115], safe: [116, 115], to: 114 },
] as const;

function listCastling(board: Board, moves: Move[]): void {
  const { squares, turn, castling } = board;
  for (const { bit, side, empty, safe, to } of CASTLING) {
    if (side !== turn || (castling & bit) === 0 || empty.some((square) => squares[square] !== 0)) continue;
    if (safe.every((square) => !isAttacked(board, square, turn === 1 ? -1 : 1))) moves.push(moveOf(safe[0], to));
  }
}

/** The rights to castle that end with a move from or to a square. */
const LOST_RIGHTS: Readonly<Record<number, number>> = { 0: 2, 4: 3, 7: 1, 112: 8, 116: 12, 119: 4 };
/** The moves of the rook when the king castles, by the target of the king. */
const ROOK_MOVES: Readonly<Record<number, readonly [from: number, to: number]>> = {
  6: [7, 5],
  2: [0, 3],
  118: [119, 117],
  114: [112, 115],
};

/** Makes a move. Returns a function that takes it back. */
export function make(board: Board, move: Move): () => void {
  const { squares, turn, castling, enPassant } = board;
  const [from, to] = [fromOf(move), toOf(move)];
  const moved = squares[from] as number;
  const piece = moved * turn;
  const capturedAt = piece === PAWN && to === enPassant ? to - turn * 16 : to;
  const captured = squares[capturedAt] as number;
  const rook = piece === KING && Math.abs(to - from) === 2 ? ROOK_MOVES[to] : undefined;
  squares[capturedAt] = 0;
  squares[from] = 0;
  squares[to] = promotionOf(move) === 0 ? moved : promotionOf(move) * turn;
  if (rook) shift(squares, rook[0], rook[1]);
  if (piece === KING) board.kings[turn === 1 ? 0 : 1] = to;
  board.castling = castling & ~(LOST_RIGHTS[from] ?? 0) & ~(LOST_RIGHTS[to] ?? 0);
  board.enPassant = piece === PAWN && Math.abs(to - from) === 32 ? (from + to) / 2 : -1;
  board.turn = turn === 1 ? -1 : 1;
  return () => {
    Object.assign(board, { turn, castling, enPassant });
    if (piece === KING) board.kings[turn === 1 ? 0 : 1] = from;
    if (rook) shift(squares, rook[1], rook[0]);
    squares[to] = 0;
    squares[capturedAt] = captured;
    squares[from] = moved;
  };
}

function shift(squares: Int8Array, from: number, to: number): void {
  squares[to] = squares[from] as number;
  squares[from] = 0;
}
