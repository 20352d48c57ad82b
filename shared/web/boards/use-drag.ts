import { useEffect, useRef, useState } from "preact/hooks";

/** A thing on its way over the board, in pixels of the window. */
export interface Drag {
  readonly from: string;
  readonly x: number;
  readonly y: number;
}

interface Dragging {
  readonly drag: Drag | null;
  /** To be called at pointerdown on a cell that may be dragged. */
  readonly grab: (from: string, event: PointerEvent) => void;
  /** True once after a drop: the browser may send a click behind it, which means nothing. */
  readonly isClickOfDrop: () => boolean;
}

/** A hand shakes: less than this is a click. */
const THRESHOLD_PX = 6;

/** Dragging from cell to cell by mouse, pen or finger; a drop outside every cell is told as "". */
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
    const was = dropped.current;
    dropped.current = false;
    return was;
  };
  return { drag, grab, isClickOfDrop };
}

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

const cellAt = (x: number, y: number): string =>
  document.elementFromPoint(x, y)?.closest<HTMLElement>("[data-cell]")?.dataset.cell ?? "";
