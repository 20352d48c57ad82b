import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ChessView } from "#shared/games/chess.ts";
import type { BoardProps } from "./board-props.ts";
import { ChessPiece } from "./chess-piece.tsx";
import {
  type Color,
  checkedKing,
  type Pieces,
  piecesOf,
  promotedKind,
  promotionsOf,
  squareInWords,
  squaresFor,
  squaresOf,
} from "./chess-squares.ts";
import { type Cell, SquareGrid } from "./square-grid.tsx";

interface Promoting {
  readonly from: string;
  readonly to: string;
  readonly letters: readonly string[];
}

/** A chess board that is played by clicks, by dragging and by the keyboard. The server lists the legal moves. */
export function ChessBoard({ game, side, canAct, pending, onPlay }: BoardProps): JSX.Element {
  const { fen } = game.state as Pick<ChessView, "fen">;
  const turn: Color = fen.split(" ")[1] === "b" ? "black" : "white";
  const pieces = afterMove(piecesOf(fen), pending);
  const color: Color = side === "black" ? "black" : "white";
  const legal = canAct ? game.legal_actions.map(String) : [];
  const [selected, select] = useState("");
  const [promoting, promote] = useState<Promoting | null>(null);
  // A selection is valid only in the position in which it was made.
  useEffect(() => {
    select("");
    promote(null);
  }, [game.tick, canAct]);

  const isMovable = (square: string): boolean => legal.some((move) => move.startsWith(square));
  const tryMove = (from: string, to: string): void => {
    const letters = promotionsOf(legal, from, to);
    if (letters.length > 1) promote({ from, to, letters });
    else if (letters.length === 1) onPlay(`${from}${to}${letters[0]}`);
    select("");
  };
  const { drag, grab, isClickOfDrop } = useDrag(select, tryMove);
  const pick = (square: string): void => {
    if (isClickOfDrop()) return;
    if (selected && promotionsOf(legal, selected, square).length > 0) tryMove(selected, square);
    else select(isMovable(square) && square !== selected ? square : "");
  };
  const marks = marksOf({ game, pieces, turn, legal, selected, pending, drag });
  const squares = squaresFor(color);
  const rows = squares.map((rank, row) =>
    rank.map((square, column) => cellOf(square, row, column, pieces, marks(square))),
  );
  const draggedPiece = drag && pieces.get(drag.from);
  return (
    <div class="framed">
      <SquareGrid
        label={`Chess board, ${color} at the bottom`}
        rows={rows}
        className={`chess ${drag ? "dragging" : ""}`}
        start={[7, 4]}
        onPick={pick}
        onGrab={(square, event) => isMovable(square) && grab(square, event)}
        onEscape={() => select("")}
      />
      <Coordinates of="ranks" texts={squares.map(([first = ""]) => first.charAt(1))} />
      <Coordinates of="files" texts={squares[0]?.map((square) => square.charAt(0)) ?? []} />
      {drag && draggedPiece && (
        <div class="dragged-piece" style={{ left: `${drag.x}px`, top: `${drag.y}px` }}>
          <ChessPiece {...draggedPiece} />
        </div>
      )}
      {promoting && (
        <Promotion
          color={color}
          choices={promoting.letters}
          onChoose={(letter) => {
            promote(null);
            onPlay(`${promoting.from}${promoting.to}${letter}`);
          }}
          onCancel={() => promote(null)}
        />
      )}
    </div>
  );
}

/** Returns the pieces with the piece of a move that is being sent on its new square. */
function afterMove(pieces: Pieces, move: unknown): Pieces {
  const [from = "", to = ""] = squaresOf(move);
  const piece = pieces.get(from);
  return piece ? new Map([...pieces].filter(([square]) => square !== from)).set(to, piece) : pieces;
}

interface Marking {
  readonly game: BoardProps["game"];
  readonly pieces: Pieces;
  readonly turn: Color;
  readonly legal: readonly string[];
  readonly selected: string;
  readonly pending: unknown;
  readonly drag: Drag | null;
}

/**
 * Returns a function that returns the marks of a square. They are its CSS classes, and MARK_LABELS has their labels.
 */
function marksOf({ game, pieces, turn, legal, selected, pending, drag }: Marking): (square: string) => string[] {
  const last = squaresOf(pending ?? game.last_action?.action);
  const checked = checkedKing(pieces, turn);
  const targets = new Set(
    legal.filter((move) => selected && move.startsWith(selected)).map((move) => move.slice(2, 4)),
  );
  return (square) => [
    ...(square === selected ? ["selected"] : []),
    ...(targets.has(square) ? ["target"] : []),
    ...(last.includes(square) ? ["last"] : []),
    ...(pending !== null && last.includes(square) ? ["pending"] : []),
    ...(square === checked ? ["check"] : []),
    ...(legal.some((move) => move.startsWith(square)) ? ["movable"] : []),
    ...(square === drag?.from ? ["lifted"] : []),
  ];
}

const MARK_LABELS: Readonly<Record<string, string>> = {
  selected: "selected",
  target: "can move here",
  last: "last move",
  pending: "being sent",
  check: "in check",
};

function cellOf(square: string, row: number, column: number, pieces: Pieces, marks: readonly string[]): Cell {
  const piece = pieces.get(square);
  const isPending = marks.includes("pending");
  // A move that is being sent is not the last move yet.
  const labels = marks.flatMap((mark) => (isPending && mark === "last" ? [] : (MARK_LABELS[mark] ?? [])));
  return {
    id: square,
    label: [squareInWords(square, piece), ...labels].join(", "),
    marks: [(row + column) % 2 === 0 ? "light" : "dark", ...(piece ? ["taken"] : []), ...marks],
    selected: marks.includes("selected"),
    content: piece && <ChessPiece {...piece} />,
  };
}

/** The coordinates are hidden from screen readers, because the label of each square contains its name. */
const Coordinates = ({ of, texts }: { readonly of: string; readonly texts: readonly string[] }): JSX.Element => (
  <div class={`coordinates ${of}`} aria-hidden="true">
    {texts.map((text) => (
      <span key={text}>{text}</span>
    ))}
  </div>
);

interface Props {
  readonly color: Color;
  /** The letters of UCI for the pieces. */
  readonly choices: readonly string[];
  readonly onChoose: (letter: string) => void;
  readonly onCancel: () => void;
}

/** Asks for the piece of a promotion. The dialog of the browser keeps the focus inside and closes on Escape. */
function Promotion({ color, choices, onChoose, onCancel }: Props): JSX.Element {
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

/** A dragged piece. The position is in pixels of the window. */
interface Drag {
  readonly from: string;
  readonly x: number;
  readonly y: number;
}

interface Dragging {
  readonly drag: Drag | null;
  /** Handles pointerdown on a cell that may be dragged. */
  readonly grab: (from: string, event: PointerEvent) => void;
  /** Returns true once after a drop, because the browser may send a click after it, which must be ignored. */
  readonly isClickOfDrop: () => boolean;
}

/** A movement of fewer pixels is a click. */
const THRESHOLD_PX = 6;

/** Dragging from cell to cell by mouse, pen or touch. A drop outside all cells is reported as "". */
function useDrag(onStart: (from: string) => void, onDrop: (from: string, to: string) => void): Dragging {
  const [drag, setDrag] = useState<Drag | null>(null);
  const dropped = useRef(false);
  const stop = useRef(() => {});
  const drop = useRef(onDrop);
  drop.current = onDrop;
  useEffect(() => () => stop.current(), []);

  const grab = (from: string, { pointerId, clientX, clientY, button }: PointerEvent): void => {
    dropped.current = false;
    stop.current();
    if (button !== 0) return;
    let isMoving = false;
    const move = (event: PointerEvent): void => {
      if (event.pointerId !== pointerId) return;
      if (!isMoving && Math.hypot(event.clientX - clientX, event.clientY - clientY) < THRESHOLD_PX) return;
      if (!isMoving) onStart(from);
      isMoving = true;
      setDrag({ from, x: event.clientX, y: event.clientY });
    };
    const end = (event: PointerEvent): void => {
      if (event.pointerId !== pointerId) return;
      stop.current();
      if (!isMoving) return;
      dropped.current = true;
      drop.current(from, event.type === "pointerup" ? cellAt(event.clientX, event.clientY) : "");
    };
    stop.current = listen(move, end, () => setDrag(null));
  };
  const isClickOfDrop = (): boolean => {
    const isDropped = dropped.current;
    dropped.current = false;
    return isDropped;
  };
  return { drag, grab, isClickOfDrop };
}

/** Listens to pointer events. Returns a function that removes the listeners and calls `after`. */
function listen(move: (event: PointerEvent) => void, end: (event: PointerEvent) => void, after: () => void) {
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
  return () => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", end);
    removeEventListener("pointercancel", end);
    after();
  };
}

/** Returns the id of the cell at a position of the window; "" if there is none. */
const cellAt = (x: number, y: number): string =>
  document.elementFromPoint(x, y)?.closest<HTMLElement>("[data-cell]")?.dataset.cell ?? "";
