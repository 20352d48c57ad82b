import { PIECE_KINDS, type PieceKind } from "../../games/chess/pieces.ts";
import type { ChessView } from "../../games/chess.ts";

export type Color = ChessView["turn"];

export interface Piece {
  readonly color: Color;
  readonly kind: PieceKind;
}

/** By square: "e4". */
export type Pieces = ReadonlyMap<string, Piece>;

const KINDS: Readonly<Record<string, PieceKind>> = PIECE_KINDS;
const FILES = "abcdefgh";

/** The pieces of a FEN's first field; what is no piece there is left out. */
export function piecesOf(fen: string): Pieces {
  const pieces = new Map<string, Piece>();
  for (const [index, rank] of (fen.split(" ", 1)[0] ?? "").split("/").entries()) {
    let file = 0;
    for (const letter of rank) {
      const kind = KINDS[letter.toLowerCase()];
      if (kind) pieces.set(`${FILES[file]}${8 - index}`, { color: letter < "a" ? "white" : "black", kind });
      file += kind ? 1 : Number(letter);
    }
  }
  return pieces;
}

/** The squares as a person behind `side` sees them: rows from the top, each from the left. */
export function squaresFor(side: Color): readonly (readonly string[])[] {
  const rows = [8, 7, 6, 5, 4, 3, 2, 1].map((rank) => [...FILES].map((file) => `${file}${rank}`));
  return side === "white" ? rows : rows.map((row) => row.toReversed()).reverse();
}

/**
 * UCI's letters for the pieces that a move from one square to another may promote to, the strongest first; [""] for a plain
 * move, [] for none.
 */
export function promotionsOf(legal: readonly string[], from: string, to: string): readonly string[] {
  return ["", "q", "r", "b", "n"].filter((letter) => legal.includes(`${from}${to}${letter}`));
}

/** The piece that a letter of UCI names; a queen when it names none. */
export const promoted = (letter: string): PieceKind => KINDS[letter] ?? "queen";

/** From and to of a move in UCI; [] of anything else. */
export function squaresOf(move: unknown): readonly string[] {
  const [, from, to] = (typeof move === "string" && /^([a-h][1-8])([a-h][1-8])/.exec(move)) || [];
  return from && to ? [from, to] : [];
}

/** A move in words, on the board that it led to: "knight g1 to f3". */
export function moveInWords(move: string, after: Pieces): string {
  const [from, to] = squaresOf(move);
  if (!from || !to) return move;
  if (move.length === 5) return `pawn ${from} to ${to}, promoted to ${promoted(move.slice(4))}`;
  return `${after.get(to)?.kind ?? ""} ${from} to ${to}`.trim();
}

/** "white knight, g1", or "e4, empty". */
export function squareInWords(square: string, piece: Piece | undefined): string {
  return piece ? `${piece.color} ${piece.kind}, ${square}` : `${square}, empty`;
}

type Step = readonly [file: number, rank: number];
const STRAIGHT: readonly Step[] = [
  [0, 1],
  [0, -1],
  [1, 0],
  [-1, 0],
];
const DIAGONAL: readonly Step[] = [
  [1, 1],
  [1, -1],
  [-1, 1],
  [-1, -1],
];
const KNIGHT: readonly Step[] = [1, -1, 2, -2].flatMap((file) =>
  [1, -1].map((sign): Step => [file, sign * (3 - Math.abs(file))]),
);

/** The square of the king that is to move and stands in check; null when it does not. A FEN does not say so. */
export function checkedKing(pieces: Pieces, turn: Color): string | null {
  const king = [...pieces].find(([, { color, kind }]) => kind === "king" && color === turn)?.[0];
  return king && isAttacked(pieces, king, turn) ? king : null;
}

function isAttacked(pieces: Pieces, square: string, color: Color): boolean {
  const hostile = (piece: Piece | undefined, kinds: readonly PieceKind[]): boolean =>
    piece !== undefined && piece.color !== color && kinds.includes(piece.kind);
  const near = (steps: readonly Step[], kind: PieceKind): boolean =>
    steps.some((step) => hostile(pieces.get(beside(square, step)), [kind]));
  const far = (steps: readonly Step[], kinds: readonly PieceKind[]): boolean =>
    steps.some((step) => hostile(firstSeen(pieces, square, step), kinds));
  const ahead = color === "white" ? 1 : -1;
  return (
    far(STRAIGHT, ["rook", "queen"]) ||
    far(DIAGONAL, ["bishop", "queen"]) ||
    near(KNIGHT, "knight") ||
    near([...STRAIGHT, ...DIAGONAL], "king") ||
    near(
      [
        [1, ahead],
        [-1, ahead],
      ],
      "pawn",
    )
  );
}

/** The first piece that is met on the way from a square. */
function firstSeen(pieces: Pieces, from: string, step: Step): Piece | undefined {
  for (let square = beside(from, step); square !== ""; square = beside(square, step)) {
    const piece = pieces.get(square);
    if (piece) return piece;
  }
  return undefined;
}

/** The square one step away; "" beyond the edge. */
function beside(square: string, [file, rank]: Step): string {
  const letter = FILES[FILES.indexOf(square.charAt(0)) + file];
  const digit = Number(square.charAt(1)) + rank;
  return letter && digit >= 1 && digit <= 8 ? `${letter}${digit}` : "";
}
