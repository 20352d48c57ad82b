import { PIECE_KINDS, type PieceKind } from "#shared/games/chess/terms.ts";
import type { ChessView } from "#shared/games/chess.ts";

export type Color = ChessView["turn"];

export interface Piece {
  readonly color: Color;
  readonly kind: PieceKind;
}

/** The pieces by their squares, e.g. "e4". */
export type Pieces = ReadonlyMap<string, Piece>;

const KINDS: Readonly<Record<string, PieceKind>> = PIECE_KINDS;
const FILES = "abcdefgh";

/** Returns the pieces of the first field of a FEN. Unknown letters are ignored. */
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

/** Returns the squares as a person behind `side` sees them: rows from top to bottom, each from left to right. */
export function squaresFor(side: Color): readonly (readonly string[])[] {
  const rows = [8, 7, 6, 5, 4, 3, 2, 1].map((rank) => [...FILES].map((file) => `${file}${rank}`));
  return side === "white" ? rows : rows.map((row) => row.toReversed()).reverse();
}

/**
 * Returns the letters of UCI for the pieces to which a move may promote, the strongest first. Returns [""] for a move
 * without a promotion and [] if the move is not legal.
 */
export function promotionsOf(legal: readonly string[], from: string, to: string): readonly string[] {
  return ["", "q", "r", "b", "n"].filter((letter) => legal.includes(`${from}${to}${letter}`));
}

/** Returns the piece that a letter of UCI names; a queen for any other text. */
export const promotedKind = (letter: string): PieceKind => KINDS[letter] ?? "queen";

/** Returns the squares from and to of a move in UCI; [] for any other value. */
export function squaresOf(move: unknown): readonly string[] {
  const [, from, to] = (typeof move === "string" && /^([a-h][1-8])([a-h][1-8])/.exec(move)) || [];
  return from && to ? [from, to] : [];
}

/** Returns a move as text for people, on the board after the move: "knight g1 to f3". The score of an engine, which may follow the move, is omitted. */
export function moveInWords(move: string, after: Pieces): string {
  const [from, to] = squaresOf(move);
  if (!from || !to) return move;
  const promotion = /^....([qrbn])/.exec(move)?.[1];
  if (promotion) return `pawn ${from} to ${to}, promoted to ${promotedKind(promotion)}`;
  return `${after.get(to)?.kind ?? ""} ${from} to ${to}`.trim();
}

/** Returns the label of a square: "white knight, g1" or "e4, empty". */
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

/**
 * Returns the square of the king of the side to move if it is in check, otherwise null. A FEN does not contain this
 * information.
 */
export function checkedKing(pieces: Pieces, turn: Color): string | null {
  const king = [...pieces].find(([, { color, kind }]) => kind === "king" && color === turn)?.[0];
  return king && isAttacked(pieces, king, turn) ? king : null;
}

function isAttacked(pieces: Pieces, square: string, color: Color): boolean {
  const isHostile = (piece: Piece | undefined, kinds: readonly PieceKind[]): boolean =>
    piece !== undefined && piece.color !== color && kinds.includes(piece.kind);
  const isAttackedByStep = (steps: readonly Step[], kind: PieceKind): boolean =>
    steps.some((step) => isHostile(pieces.get(neighbourOf(square, step)), [kind]));
  const isAttackedAlongLine = (steps: readonly Step[], kinds: readonly PieceKind[]): boolean =>
    steps.some((step) => isHostile(firstPieceFrom(pieces, square, step), kinds));
  const forward = color === "white" ? 1 : -1;
  return (
    isAttackedAlongLine(STRAIGHT, ["rook", "queen"]) ||
    isAttackedAlongLine(DIAGONAL, ["bishop", "queen"]) ||
    isAttackedByStep(KNIGHT, "knight") ||
    isAttackedByStep([...STRAIGHT, ...DIAGONAL], "king") ||
    isAttackedByStep(
      [
        [1, forward],
        [-1, forward],
      ],
      "pawn",
    )
  );
}

/** Returns the first piece in a direction from a square. */
function firstPieceFrom(pieces: Pieces, from: string, step: Step): Piece | undefined {
  for (let square = neighbourOf(from, step); square !== ""; square = neighbourOf(square, step)) {
    const piece = pieces.get(square);
    if (piece) return piece;
  }
  return undefined;
}

/** Returns the square one step away; "" beyond the edge of the board. */
function neighbourOf(square: string, [file, rank]: Step): string {
  const letter = FILES[FILES.indexOf(square.charAt(0)) + file];
  const digit = Number(square.charAt(1)) + rank;
  return letter && digit >= 1 && digit <= 8 ? `${letter}${digit}` : "";
}

/** The pieces that a side has captured, the least valuable first, and by how much its material is worth more. */
interface Material {
  readonly captured: readonly Piece[];
  /** The lead in pawns; 0 for the side that is not ahead. */
  readonly lead: number;
}

const VALUES: Readonly<Record<Piece["kind"], number>> = {
  pawn: 1,
  knight: 3,
  bishop: 3,
  rook: 5,
  queen: 9,
  king: 0,
};
const ORDER = ["pawn", "knight", "bishop", "rook", "queen"] as const;

/** Returns what a side has captured since the position `start`. A promoted pawn is not counted as captured. */
export function materialOf(start: string, fen: string, side: Color): Material {
  const other: Color = side === "white" ? "black" : "white";
  const [before, now] = [countsOf(start), countsOf(fen)];
  const missing = (kind: Piece["kind"]): number => before(other, kind) - now(other, kind);
  // Each piece beyond those of the start is a promoted pawn.
  const promoted = ORDER.slice(1).reduce((sum, kind) => sum + Math.max(0, -missing(kind)), 0);
  const captured = ORDER.flatMap((kind) => {
    const count = kind === "pawn" ? missing("pawn") - promoted : missing(kind);
    return Array.from({ length: Math.max(0, count) }, () => ({ color: other, kind }));
  });
  const worth = (color: Color): number => ORDER.reduce((sum, kind) => sum + VALUES[kind] * now(color, kind), 0);
  return { captured, lead: Math.max(0, worth(side) - worth(other)) };
}

function countsOf(fen: string): (color: Color, kind: Piece["kind"]) => number {
  const pieces = [...piecesOf(fen).values()];
  return (color, kind) => pieces.filter((piece) => piece.color === color && piece.kind === kind).length;
}

/** Returns the material of a side as text for screen readers; "" if it has captured nothing. */
export function materialInWords({ captured, lead }: Material): string {
  const counts = ORDER.flatMap((kind) => {
    const count = captured.filter((piece) => piece.kind === kind).length;
    return count === 0 ? [] : [count === 1 ? `a ${kind}` : `${count} ${kind}s`];
  });
  const ahead = lead > 0 ? `; ahead by ${lead}` : "";
  return counts.length === 0 && lead === 0 ? "" : `Captured: ${counts.join(", ") || "nothing"}${ahead}`;
}
