import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";

export interface Cell {
  /** The name of the cell in its game, e.g. "e4". */
  readonly id: string;
  /** The label for screen readers. */
  readonly label: string;
  readonly marks: readonly string[];
  readonly content?: ComponentChildren;
  readonly selected?: boolean;
}

interface Props {
  readonly label: string;
  /** The rows from top to bottom, the cells from left to right. */
  readonly rows: readonly (readonly Cell[])[];
  readonly className: string;
  /** The cell that has the keyboard focus first. */
  readonly start: readonly [row: number, column: number];
  readonly onPick: (id: string) => void;
  readonly onGrab?: (id: string, event: PointerEvent) => void;
  readonly onEscape?: () => void;
}

/**
 * A board of squares with the ARIA grid pattern: one stop for the Tab key, the arrow keys to move within the board,
 * Enter or Space to select. Spectators may move the focus too; `onPick` decides whether a selection has an effect.
 */
export function SquareGrid({ label, rows, className, start, onPick, onGrab, onEscape }: Props): JSX.Element {
  const grid = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState(start);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") onEscape?.();
    const next = cellAfterKey(cursor, event.key, rows);
    if (!next) return;
    event.preventDefault();
    setCursor(next);
    grid.current?.querySelector<HTMLElement>(`[data-at="${next.join()}"]`)?.focus();
  };
  return (
    <div
      ref={grid}
      role="grid"
      aria-label={label}
      class={`grid ${className}`}
      style={{ "--columns": rows[0]?.length ?? 1 }}
      onKeyDown={onKeyDown}
    >
      {rows.map((cells, row) => (
        <div role="row" class="row" key={row}>
          {cells.map((cell, column) => (
            <button
              type="button"
              role="gridcell"
              key={cell.id}
              data-at={`${row},${column}`}
              data-cell={cell.id}
              class={["cell", ...cell.marks].join(" ")}
              aria-label={cell.label}
              aria-selected={cell.selected ?? false}
              tabIndex={row === cursor[0] && column === cursor[1] ? 0 : -1}
              onFocus={() => setCursor([row, column])}
              onClick={() => onPick(cell.id)}
              onPointerDown={(event) => onGrab?.(cell.id, event)}
            >
              {cell.content}
            </button>
          ))}
        </div>
      ))}
    </div>
  );
}

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** Returns the cell to which a key moves the focus; null for other keys and at the edge. */
function cellAfterKey(
  [row, column]: readonly [number, number],
  key: string,
  rows: Props["rows"],
): readonly [number, number] | null {
  const step = STEPS[key];
  if (!step) return null;
  const next = [row + step[0], column + step[1]] as const;
  return rows[next[0]]?.[next[1]] ? next : null;
}
