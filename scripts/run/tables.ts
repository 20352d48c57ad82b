import { createRequire } from "node:module";
import type { FormatResult } from "#shared/formats/format.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { cellText, crosstable } from "#shared/standings/crosstable.ts";
import type { Standing } from "#shared/standings/standings.ts";
import { tieBreakColumns } from "#shared/standings/tie-breaks.ts";
import type { RatingsDocument } from "../../league-manager/projections/ratings.ts";
import type { ResultsDocument } from "../../league-manager/projections/results-document.ts";

const require = createRequire(import.meta.url);

/** Returns the standings as a table of text with aligned columns. With ratings, it has a column for them and a line about their significance. */
export function standingsTable(title: string, standings: readonly Standing[], ratings?: RatingsDocument): string {
  const ratingOf = new Map(ratings?.players.map(({ player_id, rating, error }) => [player_id, [rating, error]]));
  const byes = standings[0]?.byes === undefined ? [] : ["Byes"];
  const tieBreaks = tieBreakColumns(standings);
  const headings = tieBreaks.map(({ heading }) => heading);
  const header = ["#", "Player", "", "Played", "Won", "Drawn", "Lost", ...byes, "Points", ...headings];
  if (ratings) header.push("Rating", "±");
  const rows = standings.map((row) => {
    const { rank, display_name, player_id, played, wins, draws, losses, points } = row;
    const matches = [played, wins, draws, losses, ...byes.map(() => row.byes ?? 0)];
    const values = tieBreaks.map(({ id }) => row.tie_breaks?.[id] ?? "");
    const rating = ratings ? (ratingOf.get(player_id)?.map(Math.round) ?? ["", ""]) : [];
    return [rank, display_name, player_id, ...matches, points, ...values, ...rating].map(String);
  });
  const table = textTable(title, [header, ...rows]);
  return ratings ? `${table}\n  ${significanceLine(ratings)}` : table;
}

/** Returns a table with a last line about the result of the format, if it has one. */
export const withResult = (table: string, result: FormatResult | undefined): string =>
  result ? `${table}\n  ${inOneLine(result.text)}` : table;

/** The maximum number of pairs in a line about significance. */
const MAX_PAIRS = 5;

/** Returns a line with the neighbours in the order of the ratings whose difference is not significant yet, each with the likelihood of that order. */
function significanceLine({ players, comparisons, matches }: RatingsDocument): string {
  if (matches === 0) return "ratings: no match is rated yet";
  const above = new Map(players.slice(1).map(({ player_id }, index) => [player_id, players[index]?.player_id]));
  const nameOf = new Map(players.map(({ player_id, display_name }) => [player_id, display_name]));
  const pairs = comparisons
    .filter(({ player_id, other_id, significant }) => above.get(other_id) === player_id && !significant)
    .map(({ player_id, other_id, likelihood }) => {
      const [name, other, percent] = [nameOf.get(player_id), nameOf.get(other_id), Math.round(100 * likelihood)];
      return percent === 50 ? `${name} and ${other} are equal` : `${name} above ${other} (${percent}%)`;
    });
  if (pairs.length === 0) return "ratings: every difference between neighbours is significant";
  const more = pairs.length > MAX_PAIRS ? [`and ${pairs.length - MAX_PAIRS} more`] : [];
  return `ratings, not significant yet: ${[...pairs.slice(0, MAX_PAIRS), ...more].join(", ")}`;
}

/** Returns the results of every player of a league against every other player. The columns are the players by id, in the order of the rows. */
export function crosstableText(
  title: string,
  { standings, matches }: Pick<ResultsDocument["leagues"][number], "standings" | "matches">,
): string {
  const rounds = matches.map(({ round_id, match_id, roles, points, termination }) => {
    const players = Object.values(roles);
    const outcome = { points: players.flatMap((id) => points[id] ?? []), termination };
    return { roundId: round_id, matches: [{ matchId: match_id, players, outcome, logHead: null }], byes: [] };
  });
  const { players, results } = crosstable(standings, rounds);
  const header = ["#", "Player", "", ...players.map(({ player_id }) => player_id), "Points"];
  const rows = players.map(({ rank, display_name, player_id, points }, index) => {
    const cells = (results[index] ?? []).map((cell, column) => (column === index ? "*" : cellText(cell) || "."));
    return [String(rank), display_name, player_id, ...cells, String(points)];
  });
  return textTable(title, [header, ...rows]);
}

/** Aligns the columns of a table, of which the first row is the header: the second and third column on the left, the others on the right. */
export function textTable(title: string, rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? "")))) ?? [];
  const isText = (column: number): boolean => column === 1 || column === 2;
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const space = " ".repeat((widths[column] ?? 0) - widthOf(cell));
        return isText(column) ? cell + space : space + cell;
      })
      .join("  ")
      .trimEnd(),
  );
  return [title, ...lines.map((line) => `  ${line}`)].join("\n");
}

/** Returns the width of a text on a terminal. The library is loaded only for text that is not ASCII, because its patterns take 50 ms to compile. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  const { default: stringWidth } = require("string-width") as typeof import("string-width");
  return stringWidth(text);
}
