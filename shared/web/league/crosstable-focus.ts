import type { Position } from "./crosstable-page.tsx";

/** The cells before those of the results: number, name and points. */
const LEADING = 3;

/**
 * Marks the column and the row of a cell, and returns its position. It changes the elements directly, because drawing the table again at each movement
 * of the mouse would be slow.
 */
export function showPosition(table: HTMLTableElement | null, target: EventTarget | null): Position {
  const cell = target instanceof Element ? target.closest("td, th") : null;
  const row = cell?.closest("tbody tr") as HTMLTableRowElement | null | undefined;
  const column = (cell as HTMLTableCellElement | null)?.cellIndex ?? -1;
  for (const marked of table?.querySelectorAll(".at") ?? []) marked.classList.remove("at");
  if (!table || column < LEADING) {
    row?.classList.add("at");
    return null;
  }
  row?.classList.add("at");
  table.querySelectorAll("col")[column]?.classList.add("at");
  table.tHead?.rows[0]?.cells[column]?.classList.add("at");
  return row ? [row.sectionRowIndex, column - LEADING] : null;
}

const STEPS: Readonly<Record<string, readonly [rows: number, columns: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/**
 * Moves the focus to the next result in the direction of an arrow key. One result is a tab stop, because a table may have thousands. Without an event
 * only makes sure that there is a tab stop.
 */
export function moveFocus(table: HTMLTableElement | null, event: KeyboardEvent | null): void {
  const body = table?.tBodies[0];
  const stops = [...(body?.querySelectorAll<HTMLAnchorElement>('td a[tabindex="0"]') ?? [])];
  if (event === null) {
    if (stops.length === 0) body?.querySelector<HTMLAnchorElement>("td a")?.setAttribute("tabindex", "0");
    return;
  }
  const step = STEPS[event.key];
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("td a") : null;
  if (!step || !link || !body) return;
  event.preventDefault();
  const next = nextLink(body, link, step);
  if (!next) return;
  for (const stop of stops) stop.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

/** Returns the next link in a direction: in the same cell, or in the next cell that has one. */
function nextLink(
  body: HTMLTableSectionElement,
  link: HTMLAnchorElement,
  [down, right]: readonly [number, number],
): HTMLAnchorElement | null {
  const sibling = right > 0 ? link.nextElementSibling : right < 0 ? link.previousElementSibling : null;
  if (sibling instanceof HTMLAnchorElement) return sibling;
  const cell = link.closest("td") as HTMLTableCellElement;
  let [row, column] = [(cell.parentElement as HTMLTableRowElement).sectionRowIndex, cell.cellIndex];
  for (;;) {
    row += down;
    column += right;
    const next = body.rows[row]?.cells[column];
    if (!next || column < LEADING) return null;
    const links = next.querySelectorAll("a");
    const found = right < 0 ? links[links.length - 1] : links[0];
    if (found) return found;
  }
}

/**
 * Notes which result has the focus before the table is drawn again. Returns a function that gives the focus back, because the result may then be in
 * another cell.
 */
export function heldFocus(table: HTMLTableElement | null): () => void {
  const active = document.activeElement;
  if (!table || !(active instanceof HTMLAnchorElement) || !table.contains(active)) return () => {};
  const address = active.getAttribute("href");
  const row = active.closest("tr");
  return () => {
    if (document.activeElement?.getAttribute("href") === address) return;
    const link = [...(row?.querySelectorAll("a") ?? [])].find((one) => one.getAttribute("href") === address);
    if (!link) return;
    for (const stop of table.querySelectorAll('td a[tabindex="0"]')) stop.setAttribute("tabindex", "-1");
    if (link.closest("td")) link.setAttribute("tabindex", "0");
    link.focus({ preventScroll: true });
  };
}
