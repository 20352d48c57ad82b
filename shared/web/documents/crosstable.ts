import type { LeagueDocument, PlayerRef } from "./league.ts";

/** `GET /api/leagues/{league_id}/crosstable?rows=1&columns=1`. A large table is divided into pages of rows and of columns. */
export interface CrosstableDocument extends LeagueDocument {
  /** The page of the rows and of the columns, from 1. */
  readonly row_page: number;
  readonly column_page: number;
  readonly pages: number;
  /** The position in the standings of the first row and of the first column, from 1. */
  readonly first_row: number;
  readonly first_column: number;
  /** The players of the columns if their page differs from that of the rows; null otherwise. */
  readonly columns: readonly PlayerRef[] | null;
  readonly rows: readonly CrosstableRow[];
}

/** The results of a player. The number of the row is that of its column. */
export interface CrosstableRow extends PlayerRef {
  readonly rank: number;
  readonly points: number;
  /**
   * The cells, with commas between them. Each match is the result of the player of the row, that of the player of the column and the id of the match:
   * "10R2M1". The matches of a cell have spaces between them. A cell with many matches has their counts only: "*12/3/5", won, drawn and lost.
   * If rows and columns are the same players, a row begins after the diagonal, because the other cells are mirrored.
   */
  readonly cells: string;
}
