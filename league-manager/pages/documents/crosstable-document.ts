import { resultMark } from "#shared/standings/crosstable.ts";
import type { Standing } from "#shared/standings/standings.ts";
import type { CrosstableDocument } from "#shared/web/league-documents.ts";
import type { League, Match, Round } from "../../league/league.ts";
import { openedRounds, standingsRules } from "../../league/standings-of.ts";
import { type DocumentContext, type DocumentKind, type DocumentRequest, headerOf, perRound } from "./document.ts";

/** The maximum number of players of a table that has one page. */
const MAX_PLAYERS = 100;
/** The number of players on each page of a larger table. */
const PAGE_PLAYERS = 50;
/** The maximum number of matches that a cell lists one by one. With more, it has the numbers of wins, draws and losses. */
const MAX_LISTED = 6;

export const crosstable = {
  page: "crosstable",
  path: "crosstable",
  title: ({ league }: CrosstableDocument) => `Crosstable – ${league.league_id}`,
  read: crosstableDocument,
} satisfies DocumentKind;

function crosstableDocument(context: DocumentContext, { league, query }: DocumentRequest): CrosstableDocument {
  const all = context.views.projections.standings(league);
  const size = all.length <= MAX_PLAYERS ? MAX_PLAYERS : PAGE_PLAYERS;
  const pages = Math.max(1, Math.ceil(all.length / size));
  const pageIn = (name: string): number =>
    Math.min(pages, Math.max(1, Number.parseInt(query.get(name) ?? "1", 10) || 1));
  const [row_page, column_page] = [pageIn("rows"), pageIn("columns")];
  const playersOf = (page: number): readonly Standing[] => all.slice((page - 1) * size, page * size);
  const [rows, columns] = [playersOf(row_page), playersOf(column_page)];
  const isMirrored = row_page === column_page;
  const cells = cellsOf(league, rows, columns);
  return {
    league: headerOf(context, league),
    row_page,
    column_page,
    pages,
    first_row: (row_page - 1) * size + 1,
    first_column: (column_page - 1) * size + 1,
    columns: isMirrored ? null : columns.map(({ player_id, display_name }) => ({ player_id, name: display_name })),
    rows: rows.map(({ player_id, display_name, rank, points }, index) => ({
      player_id,
      name: display_name,
      rank,
      points,
      cells: (cells[index]?.slice(isMirrored ? index + 1 : 0) ?? []).join(","),
    })),
  };
}

/** A result of a player against an opponent. */
interface Meeting {
  readonly opponent: string;
  /** "10R2M1": the marks of both and the id of the match. */
  readonly text: string;
}

/** The results of a round by player. The members of a team are not opponents. */
type Meetings = ReadonlyMap<string, readonly Meeting[]>;

type TeamSeats = readonly number[] | undefined;

/** Returns the function that reads the results of a round of a game with these teams. */
function meetingsReader(teams: TeamSeats): (round: Round) => Meetings {
  const key = String(teams);
  const reader =
    readers.get(key) ??
    perRound(({ matches }) => {
      const meetings = new Map<string, Meeting[]>();
      for (const match of matches) addMeetings(meetings, match, teams);
      return meetings;
    });
  readers.set(key, reader);
  return reader;
}
const readers = new Map<string, (round: Round) => Meetings>();

function addMeetings(meetings: Map<string, Meeting[]>, match: Match, teams: TeamSeats): void {
  const { players, outcome, matchId } = match;
  if (!outcome?.points.length) return;
  const isForfeit = outcome.termination === "forfeit";
  const marks = outcome.points.map((points) => resultMark(points, isForfeit));
  for (const [seat, player] of players.entries()) {
    const list = meetings.get(player) ?? [];
    for (const [other, opponent] of players.entries())
      if (other !== seat && !(teams && teams[other] === teams[seat]))
        list.push({ opponent, text: `${marks[seat]}${marks[other]}${matchId}` });
    meetings.set(player, list);
  }
}

/** The cells of these rows and columns. Only the rounds that have changed are read match by match. */
function cellsOf(league: League, rows: readonly Standing[], columns: readonly Standing[]): readonly string[][] {
  const rowOf = new Map(rows.map(({ player_id }, index) => [player_id, index]));
  const columnOf = new Map(columns.map(({ player_id }, index) => [player_id, index]));
  const read = meetingsReader(standingsRules(league).teams);
  const found = rows.map(() => new Map<number, string[]>());
  const add = (row: number | undefined, meetings: readonly Meeting[] = []): void => {
    const cells = found[row ?? -1];
    for (const { opponent, text } of cells ? meetings : []) {
      const column = columnOf.get(opponent);
      if (column === undefined) continue;
      const cell = cells?.get(column);
      if (cell) cell.push(text);
      else cells?.set(column, [text]);
    }
  };
  for (const round of openedRounds(league)) {
    const meetings = read(round);
    if (meetings.size < rows.length) for (const [player, list] of meetings) add(rowOf.get(player), list);
    else for (const [index, { player_id }] of rows.entries()) add(index, meetings.get(player_id));
  }
  return found.map((cells) => columns.map((_, column) => cellText(cells.get(column) ?? [])));
}

const cellText = (texts: readonly string[]): string => (texts.length <= MAX_LISTED ? texts.join(" ") : counts(texts));

/** The numbers of matches that were won, drawn and lost. */
function counts(texts: readonly string[]): string {
  const count = (marks: string): number => texts.filter((text) => marks.includes(text[0] ?? "?")).length;
  return `*${count("1+")}/${count("=")}/${count("0-")}`;
}
