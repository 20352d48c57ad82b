/**
 * The kinds of chess pieces, by their letters in FEN and UCI. This file does not import chess.js, because pages load
 * it.
 */
export const PIECE_KINDS = {
  p: "pawn",
  n: "knight",
  b: "bishop",
  r: "rook",
  q: "queen",
  k: "king",
} as const;
export type PieceKind = (typeof PIECE_KINDS)[keyof typeof PIECE_KINDS];
