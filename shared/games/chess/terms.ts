/** Terms of chess that pages show. This file does not import chess.js, because pages load it. */

export type Color = "white" | "black";

/** The kinds of chess pieces, by their letters in FEN and UCI. */
export const PIECE_KINDS = {
  p: "pawn",
  n: "knight",
  b: "bishop",
  r: "rook",
  q: "queen",
  k: "king",
} as const;
export type PieceKind = (typeof PIECE_KINDS)[keyof typeof PIECE_KINDS];

/** The meaning of the option with which players can offer draws, for `GameInfo`. */
export const DRAW_OFFER_TEXTS = {
  draw_offers:
    "true: a move may offer a draw, like `e2e4 draw`, and the opponent accepts with `draw` instead of a move; default: off, and on in games between people",
} as const;

/** The action that accepts an offer, and the addition to a move that makes one. */
export const DRAW = "draw";

/** Returns the offer that a role may accept: that of the opponent's last move. */
export const isOffered = (offer: Color | null | undefined, to: string): boolean =>
  offer !== undefined && offer !== null && offer !== to;
