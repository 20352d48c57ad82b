import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ChessPiece } from "./chess-piece.tsx";
import { type Color, promotedKind } from "./chess-squares.ts";

interface Props {
  readonly color: Color;
  /** The letters of UCI for the pieces. */
  readonly choices: readonly string[];
  readonly onChoose: (letter: string) => void;
  readonly onCancel: () => void;
}

/** Asks for the piece of a promotion. The dialog of the browser keeps the focus inside and closes on Escape. */
export function Promotion({ color, choices, onChoose, onCancel }: Props): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="promotion" aria-label="Promote the pawn to" onClose={onCancel}>
      <p>Promote to</p>
      <div class="choices">
        {choices.map((letter) => (
          <button type="button" key={letter} aria-label={promotedKind(letter)} onClick={() => onChoose(letter)}>
            <ChessPiece color={color} kind={promotedKind(letter)} />
          </button>
        ))}
      </div>
      <button type="button" class="quiet" onClick={onCancel}>
        Cancel
      </button>
    </dialog>
  );
}
