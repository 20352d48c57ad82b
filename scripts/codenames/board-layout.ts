import stringWidth from "string-width";

/** Rows of the board in a message of the server, and cards in each. */
const BOARD_ROWS = 5;
const BOARD_COLUMNS = 5;
const GAP = "  ";

/** The number of rows of a text on a terminal with this many columns, which wraps longer lines. */
export const rowsOf = (text: string, columns: number): number =>
  text.split("\n").reduce((rows, line) => rows + Math.max(1, Math.ceil(stringWidth(line) / columns)), 0);

/**
 * A message with its board in as many columns as fit; the other parts are unchanged. `boardLast` puts the board at the end, because the end of a
 * message that is longer than the screen stays visible.
 */
export function fitted(message: string, columns: number, boardLast: boolean): string {
  const parts = message.split("\n\n").map((text) => ({ text, cells: cellsOf(text) }));
  const laidOut = parts.map(({ text, cells }) =>
    cells === null || rowsOf(text, columns) === BOARD_ROWS ? text : inColumns(cells, columns),
  );
  const place = parts.findIndex(({ cells }) => cells !== null);
  const [board] = boardLast && place !== -1 ? laidOut.splice(place, 1) : [];
  return [...laidOut, ...(board === undefined ? [] : [board])].join("\n\n");
}

/** The cards of a part of a message that is a board; null for anything else. */
function cellsOf(part: string): readonly string[] | null {
  const rows = part.split("\n").map((line) => line.trim().split(/ {2,}/));
  const isBoard = rows.length === BOARD_ROWS && rows.every((row) => row.length === BOARD_COLUMNS);
  return isBoard ? rows.flat() : null;
}

/** Cells in the order of reading, in the most columns that fit; each column is as wide as its widest cell. */
function inColumns(cells: readonly string[], columns: number): string {
  for (let across = BOARD_COLUMNS; across > 1; across--) {
    const widths = Array.from({ length: across }, (_, column) =>
      widest(cells.filter((_, at) => at % across === column)),
    );
    const total = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (across - 1);
    if (total > columns) continue;
    const rows = Array.from({ length: Math.ceil(cells.length / across) }, (_, row) =>
      cells.slice(row * across, (row + 1) * across).map((cell, column) => padded(cell, widths[column] ?? 0)),
    );
    return rows.map((row) => row.join(GAP).trimEnd()).join("\n");
  }
  return cells.join("\n");
}

const widest = (cells: readonly string[]): number => Math.max(...cells.map((cell) => stringWidth(cell)));

const padded = (cell: string, width: number): string => cell + " ".repeat(Math.max(0, width - stringWidth(cell)));
