import { escapeHtml, escapeUnprintable } from "#shared/lib/text.ts";
import type { LeaguesDocument } from "#shared/web/documents/leagues.ts";
import type { StandingsDocument } from "#shared/web/documents/standings.ts";
import type { DocumentContext, DocumentRequest } from "./documents/document.ts";
import { standingsDocument } from "./documents/standings.ts";

/** Returns a name or another text as HTML. */
const html = (text: string): string => escapeHtml(escapeUnprintable(text));

/** Returns the content of a league's page for browsers without JavaScript: the standings. */
export function pageWithoutScript(context: DocumentContext, request: DocumentRequest): string {
  const document = standingsDocument(context, request);
  const { league, page, pages } = document;
  const path = `/leagues/${encodeURIComponent(league.league_id)}/standings`;
  const links = Array.from({ length: pages }, (_, index) => index + 1)
    .map((number) => (number === page ? `${number}` : `<a href="${path}?page=${number}">${number}</a>`))
    .join(" ");
  return `<main class="plain"><h1>${html(league.league_id)}</h1>
<p>${html([league.game_name, league.format, league.status].filter((text) => text !== "").join(", "))}</p>
${standingsTable(document)}${pages > 1 ? `<p>Pages: ${links}</p>` : ""}
<p><a href="/leagues">All leagues</a></p>
<noscript><p>Reload the page to update it. Boards and charts need JavaScript.</p></noscript></main>`;
}

function standingsTable({ rows, tie_breaks, has_byes }: StandingsDocument): string {
  if (rows.length === 0) return "<p>No player has entered this league yet.</p>";
  const headings = ["Points", "Played", "Won", "Drawn", "Lost", ...(has_byes ? ["Byes"] : [])];
  const columns = [...headings, ...tie_breaks.map(({ heading }) => heading)];
  const cells = rows.map((row) => {
    const counts = [row.points, row.played, row.wins, row.draws, row.losses, ...(has_byes ? [row.byes] : [])];
    const numbers = [...counts, ...row.tie_breaks.map((value) => value ?? "")];
    return `<tr><td class="n">${row.rank}</td><th scope="row"><bdi>${html(row.name)}</bdi></th>${numbers.map((number) => `<td class="n">${number}</td>`).join("")}</tr>`;
  });
  return `<div class="wide" tabindex="0" role="region" aria-label="Standings"><table class="data"><thead><tr><th scope="col" class="n">#</th><th scope="col">Player</th>${columns.map((name) => `<th scope="col" class="n">${html(name)}</th>`).join("")}</tr></thead><tbody>${cells.join("")}</tbody></table></div>`;
}

/** Returns the content of the list of leagues for browsers without JavaScript. */
export function leaguesHtml({ leagues }: LeaguesDocument): string {
  const items = leagues.map(
    ({ league_id, game_name, status }) =>
      `<li><a href="/leagues/${encodeURIComponent(league_id)}">${html(league_id)}</a> ${html(`${game_name}, ${status}`)}</li>`,
  );
  return `<main class="plain"><h1>Leagues</h1><ul>${items.join("")}</ul></main>`;
}
