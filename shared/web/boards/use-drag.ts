import { useEffect, useRef, useState } from "preact/hooks";

/** A dragged piece. The position is in pixels of the window. */
export interface Drag {
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
export function useDrag(onStart: (from: string) => void, onDrop: (from: string, to: string) => void): Dragging {
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
