import type { JSX } from "preact";
import type { Piece } from "./chess-squares.ts";

const LETTERS = { pawn: "p", knight: "n", bishop: "b", rook: "r", queen: "q", king: "k" } as const;

/** The file with the sprite of the pieces. It is empty in a self-contained document, which contains the sprite. */
const SPRITE = document.documentElement.dataset.pieces ?? "";

/** A piece of the sprite. It has no label, because the label of its cell names it. */
export function ChessPiece({ color, kind }: Piece): JSX.Element {
  return (
    <svg class="piece" viewBox="0 0 40 40" aria-hidden="true">
      <use href={`${SPRITE}#${color.charAt(0)}${LETTERS[kind]}`} />
    </svg>
  );
}
