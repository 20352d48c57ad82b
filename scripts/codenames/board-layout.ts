import stringWidth from "string-width";

/** The rows and columns of the board in a message of the server. */
const BOARD_ROWS = 5;
const BOARD_COLUMNS = 5;
const GAP = "  ";

/** Returns the number of rows that a text takes on a terminal with this number of columns, which wraps longer lines. */
export const rowsOf = (text: string, columns: number): number =>
  text.split("\n").reduce((rows, line) => rows + Math.max(1, Math.ceil(stringWidth(line) / columns)), 0);

/**
 * Lays out the board of a message in as many columns as fit. The other parts are unchanged. `boardLast` moves the board to the end, because the end of
 * a message that is longer than the screen stays visible.
 */
export function fitMessage(message: string, columns: number, boardLast: boolean): string {
  const parts = message.split("\n\n").map((text) => ({ text, cells: cellsOf(text) }));
  const laidOut = parts.map(({ text, cells }) =>
    cells === null || rowsOf(text, columns) === BOARD_ROWS ? text : inColumns(cells, columns),
  );
  const boardIndex = parts.findIndex(({ cells }) => cells !== null);
  const [board] = boardLast && boardIndex !== -1 ? laidOut.splice(boardIndex, 1) : [];
  return [...laidOut, ...(board === undefined ? [] : [board])].join("\n\n");
}

/** Returns the cards of a board; null if the text is not a board. */
function cellsOf(part: string): readonly string[] | null {
  const rows = part.split("\n").map((line) => line.trim().split(/ {2,}/));
  const isBoard = rows.length === BOARD_ROWS && rows.every((row) => row.length === BOARD_COLUMNS);
  return isBoard ? rows.flat() : null;
}

/** Lays out cells row by row in as many columns as fit. Each column is as wide as its widest cell. */
function inColumns(cells: readonly string[], columns: number): string {
  for (let columnCount = BOARD_COLUMNS; columnCount > 1; columnCount--) {
    const widths = Array.from({ length: columnCount }, (_, column) =>
      widest(cells.filter((_, index) => index % columnCount === column)),
    );
    const total = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (columnCount - 1);
    if (total > columns) continue;
    const rows = Array.from({ length: Math.ceil(cells.length / columnCount) }, (_, row) =>
      cells.slice(row * columnCount, (row + 1) * columnCount).map((cell, column) => padded(cell, widths[column] ?? 0)),
    );
    return rows.map((row) => row.join(GAP).trimEnd()).join("\n");
  }
  return cells.join("\n");
}

const widest = (cells: readonly string[]): number => Math.max(...cells.map((cell) => stringWidth(cell)));

const padded = (cell: string, width: number): string => cell + " ".repeat(Math.max(0, width - stringWidth(cell)));
