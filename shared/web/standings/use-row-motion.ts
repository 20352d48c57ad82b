import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

const MOVE_MS = 450;
const HIGHLIGHT_MS = 2_500;

/**
 * Moves the rows of a table from their former places to the new ones, and highlights rows that have changed. A row is an element with `data-key`; it
 * has changed if its `data-state` is another one. A reader who prefers reduced motion sees the highlight only.
 */
export function useRowMotion(body: RefObject<HTMLElement | null>): void {
  const before = useRef(new Map<string, { readonly top: number; readonly state: string }>());
  useLayoutEffect(() => {
    if (!body.current) return;
    const isReduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const origin = body.current.offsetTop;
    const rows = [...body.current.querySelectorAll<HTMLElement>("[data-key]")];
    const now = new Map(
      rows.map((row) => [row.dataset.key ?? "", { top: row.offsetTop - origin, state: stateOf(row) }]),
    );
    for (const row of rows) {
      const was = before.current.get(row.dataset.key ?? "");
      const is = now.get(row.dataset.key ?? "");
      if (!was || !is) continue;
      if (was.top !== is.top && !isReduced) move(row, was.top - is.top);
      if (was.state !== is.state) highlight(row);
    }
    before.current = now;
  });
}

const stateOf = (row: HTMLElement): string => row.dataset.state ?? "";

function move(row: HTMLElement, by: number): void {
  const frames = [{ transform: `translateY(${by}px)` }, { transform: "none" }];
  row.animate(frames, { duration: MOVE_MS, easing: "cubic-bezier(0.2, 0, 0, 1)" });
}

/** Each cell has a background, because the first ones stay in view while the others scroll below them. */
function highlight(row: HTMLElement): void {
  const color = getComputedStyle(row).getPropertyValue("--highlight");
  for (const cell of row.children) cell.animate([{ backgroundColor: color }, {}], { duration: HIGHLIGHT_MS });
}
