import type { Color, Piece } from "../boards/chess-squares.ts";
import { piecesOf } from "../boards/chess-squares.ts";

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
