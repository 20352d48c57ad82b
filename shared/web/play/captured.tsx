import type { JSX } from "preact";
import { ChessPiece } from "../boards/chess-piece.tsx";
import type { Color } from "../boards/chess-squares.ts";
import { materialInWords, materialOf } from "../texts/material.ts";

interface CapturedProps {
  /** The position in which the game began, as FEN. */
  readonly start: string;
  readonly fen: string;
  readonly side: Color;
}

/** The pieces that a side has captured, and its lead. */
export function Captured({ start, fen, side }: CapturedProps): JSX.Element | null {
  const material = materialOf(start, fen, side);
  const words = materialInWords(material);
  if (words === "") return null;
  return (
    <span class="captured" role="img" aria-label={words} title={words}>
      {material.captured.length > 0 && (
        <span class="pieces">
          {material.captured.map((piece, index) => (
            // The index is the key, because pieces of one kind do not differ.
            <ChessPiece key={index} {...piece} />
          ))}
        </span>
      )}
      {material.lead > 0 && <span class="lead">+{material.lead}</span>}
    </span>
  );
}
