import type { CrosstableDocument } from "#shared/web/league-documents.ts";

/** A match of a cell, from the view of the player of the row. */
interface CellMatch {
  /** 1, =, 0, + or -. */
  readonly mark: string;
  readonly matchId: string;
}

/** A cell: its matches, or the numbers of matches that were won, drawn and lost if there are many. */
type Cell =
  | { readonly matches: readonly CellMatch[] }
  | { readonly counts: readonly [wins: string, draws: string, losses: string] };

/** Returns the text of each cell of a table by row, from the view of the player of the row. The diagonal is null. */
export function cellTexts(document: CrosstableDocument): readonly (readonly (string | null)[])[] {
  const { rows, columns } = document;
  if (columns !== null) return rows.map(({ cells }) => cells.split(","));
  const upper = rows.map(({ cells }, row) => (row === rows.length - 1 ? [] : cells.split(",")));
  return rows.map((_, row) =>
    rows.map((_, column) => {
      if (row === column) return null;
      return row < column ? (upper[row]?.[column - row - 1] ?? "") : mirrored(upper[column]?.[row - column - 1] ?? "");
    }),
  );
}

/** Returns the same cell from the view of the opponent. */
function mirrored(text: string): string {
  if (text === "") return text;
  if (isCounts(text)) return `*${text.slice(1).split("/").reverse().join("/")}`;
  return text
    .split(" ")
    .map((match) => `${match[1]}${match[0]}${match.slice(2)}`)
    .join(" ");
}

/** Returns whether a cell has the numbers of matches instead of the matches. */
export const isCounts = (text: string): boolean => text.startsWith("*");

/** Parses the text of a cell. */
export function parsedCell(text: string): Cell {
  if (isCounts(text)) {
    const [wins = "", draws = "", losses = ""] = text.slice(1).split("/");
    return { counts: [wins, draws, losses] };
  }
  const matches = text === "" ? [] : text.split(" ");
  return { matches: matches.map((match) => ({ mark: match[0] ?? "", matchId: match.slice(2) })) };
}

const WORDS: Readonly<Record<string, string>> = {
  "1": "won",
  "=": "drawn",
  "0": "lost",
  "+": "won by forfeit",
  "-": "lost by forfeit",
};

/** Returns a mark as it is printed: with the sign of minus, which is as wide as a plus. */
export const markText = (mark: string): string => (mark === "-" ? "−" : mark);

export const markInWords = (mark: string): string => WORDS[mark] ?? "no result";

/** Returns a cell in words: "won, lost by forfeit". */
export function cellInWords(text: string): string {
  const cell = parsedCell(text);
  if ("counts" in cell) {
    const [wins, draws, losses] = cell.counts;
    return `${wins} won, ${draws} drawn, ${losses} lost`;
  }
  if (cell.matches.length === 0) return "no result";
  return cell.matches.map(({ mark }) => markInWords(mark)).join(", ");
}
