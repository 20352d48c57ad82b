import { counted, escapeHtml, escapeUnprintable } from "#shared/lib/text.ts";
import { type Crosstable, cellText } from "#shared/standings/crosstable.ts";
import { tieBreakColumns } from "#shared/standings/tie-breaks.ts";
import type { RatingTable } from "#shared/statistics/rating-table.ts";
import { intervalDrawing, likelihoodText } from "#shared/web/rating-interval.ts";
import type { ReportLeague } from "./report-run.ts";

/** Returns a text of the export for HTML. It is untrusted input. */
export const html = (value: unknown): string => escapeHtml(escapeUnprintable(String(value ?? "")));

/** A table that scrolls inside of the page if it is wider. The region is reachable by the keyboard. */
export const scrolling = (label: string, table: string): string =>
  `<div class="wide" role="region" aria-label="${html(label)}" tabindex="0">${table}</div>`;

const head = (columns: readonly string[], numeric: (index: number) => boolean): string =>
  `<thead><tr>${columns.map((name, index) => `<th scope="col"${numeric(index) ? ' class="n"' : ""}>${name}</th>`).join("")}</tr></thead>`;

const playerCell = (name: string, id: string): string =>
  `<th scope="row" class="name">${html(name)}${name === id ? "" : ` <small>${html(id)}</small>`}</th>`;

const numberCell = (value: unknown): string => `<td class="n">${html(value)}</td>`;

/** Returns the standings of the players, and those of the teams before them if the league has teams. */
export function standingsHtml({ league_id, standings, teams }: ReportLeague): string {
  const ofPlayers = standingsTable(`Standings of ${league_id}`, "Player", standings);
  if (teams.length === 0) return `<h3>Standings</h3>\n${ofPlayers}`;
  return `<h3>Standings of the teams</h3>
${standingsTable(`Standings of the teams of ${league_id}`, "Team", teams)}
<h3>Standings of the players</h3>
${ofPlayers}`;
}

/** Returns standings with their tie-breaks, and with the byes if there are any. */
function standingsTable(label: string, competitor: string, standings: ReportLeague["standings"]): string {
  const tieBreaks = tieBreakColumns(standings as readonly { tie_breaks?: Readonly<Record<string, number | null>> }[]);
  const hasByes = standings[0]?.byes !== undefined;
  const rows = standings.map((row) => {
    const { rank, display_name, player_id, played, wins, draws, losses, byes, points, tie_breaks } = row;
    const values = tieBreaks.map(({ id }) => (tie_breaks as Record<string, unknown> | undefined)?.[id]);
    const cells = [points, played, wins, draws, losses, ...(hasByes ? [byes ?? 0] : []), ...values].map(numberCell);
    return `<tr>${numberCell(rank)}${playerCell(String(display_name), String(player_id))}${cells.join("")}</tr>`;
  });
  // The points come first, because a narrow window shows only the first columns.
  const columns = [
    ...["#", competitor, "Points", "Played", "Won", "Drawn", "Lost", ...(hasByes ? ["Byes"] : [])],
    ...tieBreaks.map(({ heading }) => html(heading)),
  ];
  return scrolling(label, `<table>${head(columns, (index) => index !== 1)}<tbody>${rows.join("")}</tbody></table>`);
}

/** The maximum number of players of a crosstable in a report. */
const MAX_CROSSTABLE = 60;

/** Returns the crosstable: 1, = and 0, and + and - for a match that was decided by a forfeit. */
export function crosstableHtml(league_id: string, { players, results }: Crosstable): string {
  if (players.length > MAX_CROSSTABLE)
    return `<h3>Crosstable</h3>
<p>${counted(players.length, "player")} are too many for a crosstable. The format csv writes it as a file.</p>`;
  const rows = players.map(({ player_id, display_name, points }, row) => {
    const cells = players.map((_, column) =>
      row === column ? '<td class="self"></td>' : `<td>${html(summary(cellText(results[row]?.[column] ?? [])))}</td>`,
    );
    return `<tr><td>${row + 1}</td>${playerCell(display_name, player_id)}${cells.join("")}<td>${html(points)}</td></tr>`;
  });
  const columns = ["#", "Player", ...players.map((_, index) => String(index + 1)), "Points"];
  return `<h3>Crosstable</h3>
<p>A row has the results of a player against the player with the number of the column: 1 won, = drawn, 0 lost; + won and - lost by forfeit.</p>
${scrolling(`Crosstable of ${league_id}`, `<table class="crosstable">${head(columns, () => false)}<tbody>${rows.join("")}</tbody></table>`)}`;
}

/** Returns the results of a cell. Many results are counted: "12 × 1, 3 × 0". */
function summary(text: string): string {
  if (text.length <= 6) return text;
  const counts = ["1", "=", "0", "+", "-"].map((one) => [one, text.split(one).length - 1] as const);
  return counts.flatMap(([one, count]) => (count > 0 ? [`${count} × ${one}`] : [])).join(", ");
}

/** Returns the ratings with their intervals as text and as a drawing. */
export function ratingsHtml(
  { league_id, players }: ReportLeague,
  { rows, comparisons, matches, model }: RatingTable,
): string {
  if (matches === 0) return "";
  const names = new Map(players.map(({ player_id, display_name }) => [player_id, display_name]));
  const low = Math.min(...rows.map(({ rating, error }) => rating - error));
  const high = Math.max(...rows.map(({ rating, error }) => rating + error));
  const lines = rows.map(({ player, rating, error, percent, matches: played }, index) => {
    const next = rows[index + 1]?.player;
    const comparison = comparisons.find((one) => one.player === player && one.other === next);
    const draw = intervalDrawing({ rating, error }, { low, high });
    const drawing = `<svg class="interval" viewBox="0 0 200 20" role="img" aria-label="${draw.text}"><path class="scale" d="${draw.average}"/><path class="error" d="${draw.interval}"/><circle cx="${draw.rating}" cy="10" r="4"/></svg>`;
    return `<tr>${playerCell(names.get(player) ?? player, player)}${numberCell(Math.round(rating))}${numberCell(`± ${Math.round(error)}`)}<td>${drawing}</td>${numberCell(played)}${numberCell(percent === null ? "" : `${percent}%`)}<td>${comparisonText(comparison)}</td></tr>`;
  });
  const columns = ["Player", "Rating", "± 95%", "Interval", "Matches", "Points", "Stronger than the next"];
  const source = model === "bradley-terry" ? "Bradley-Terry model" : "OpenSkill";
  return `<h3>Ratings</h3>
<p>On the Elo scale, around an average of 1500, with 95% intervals (${source}, ${counted(matches, "rated match", "rated matches")}). The order of two players is not significant while the interval of their difference contains 0.</p>
${scrolling(`Ratings of ${league_id}`, `<table>${head(columns, (index) => index === 1 || index === 2 || index === 4 || index === 5)}<tbody>${lines.join("")}</tbody></table>`)}`;
}

function comparisonText(comparison: RatingTable["comparisons"][number] | undefined): string {
  if (!comparison) return "";
  const likelihood = likelihoodText(comparison.likelihood);
  return comparison.isSignificant ? likelihood : `${likelihood}, not significant yet`;
}
