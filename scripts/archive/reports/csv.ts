/** A cell of a table. null is an empty cell. */
export type Cell = string | number | boolean | null;

/** Spreadsheets detect UTF-8 by this character. */
const BYTE_ORDER_MARK = "\ufeff";

/** Returns the beginning of a CSV file: the names of its columns. */
export const csvHeader = (columns: readonly string[]): string => BYTE_ORDER_MARK + csvRow(columns);

/** Returns a row as CSV (RFC 4180). */
export const csvRow = (cells: readonly Cell[]): string => `${cells.map(cellText).join(",")}\r\n`;

/** A spreadsheet interprets a text that begins with one of these characters as a formula. Names are chosen by the players. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/u;

/** A cell with one of these characters is quoted. Semicolons and tabs separate cells in some spreadsheets. */
const QUOTED = /[",;\t\r\n]/;

/** Returns a cell as CSV. An apostrophe before a text that would be a formula makes it harmless; numbers are not changed. */
function cellText(value: Cell): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
