import { counted, escapeHtml, escapeUnprintable } from "#shared/lib/text.ts";
import type { LeagueHeader, LeaguesDocument, StandingsDocument } from "#shared/web/league-documents.ts";
import type { SiteServers } from "#shared/web/site-links.ts";
import { siteHeaderHtml } from "#shared/web/site-page.ts";
import { LEAGUE_STATUS_TEXTS } from "#shared/web/texts/league-texts.ts";
import { type DocumentContext, type DocumentRequest, headerOf } from "./documents/document.ts";
import { standingsDocument } from "./documents/standings-document.ts";

/** Returns a name or another text as HTML. */
const html = (text: string): string => escapeHtml(escapeUnprintable(text));

/**
 * Returns the content of a league's page for browsers without JavaScript: the summary of its document or, for a page without one, the standings.
 */
export function pageWithoutScript(
  context: DocumentContext,
  request: DocumentRequest,
  servers: SiteServers,
  summary: readonly string[] | undefined,
): string {
  const league = headerOf(context, request.league);
  const path = `/leagues/${encodeURIComponent(league.league_id)}`;
  const content = summary
    ? `${summary.map((text) => `<p><bdi>${html(text)}</bdi></p>`).join("")}<p><a href="${path}/standings">Standings</a></p>`
    : standingsHtml(standingsDocument(context, request), `${path}/standings`);
  return `<div class="site">${siteHeaderHtml(servers)}<main class="plain"><h1><a href="${path}">${html(league.league_id)}</a></h1>
<p class="league-facts">${badgeOf(league)} ${html(factsOf(league))}</p>
${league.waiting === "" ? "" : `<p>${html(league.waiting)}.</p>\n`}${content}
<noscript><p>Reload the page to update it. Boards and charts need JavaScript.</p></noscript></main></div>`;
}

/** Returns one page of the standings with links to the other ones. */
function standingsHtml(document: StandingsDocument, path: string): string {
  const { page, pages } = document;
  const links = Array.from({ length: pages }, (_, index) => index + 1)
    .map((number) => `<a href="${path}?page=${number}"${number === page ? ' aria-current="page"' : ""}>${number}</a>`)
    .join("");
  const nav = pages > 1 ? `<nav class="pages" aria-label="Pages of the list">${links}</nav>` : "";
  return `<h2>Standings</h2>${standingsTable(document)}${nav}`;
}

const badgeOf = ({ status }: Pick<LeagueHeader, "status">): string =>
  `<span class="badge badge-${status}">${LEAGUE_STATUS_TEXTS[status]}</span>`;

/** Returns the facts about a league as text. */
function factsOf({ game_name, format, players, departed, completed, matches, status }: LeagueHeader): string {
  const gone = departed === 0 ? "" : ` (${departed} no longer playing)`;
  const progress =
    matches === null
      ? counted(completed, "match", "matches")
      : `${completed} of ${counted(matches, "match", "matches")}`;
  const facts = [game_name, format, `${counted(players, "player")}${gone}`, ...(status === "open" ? [] : [progress])];
  return facts.filter((text) => text !== "").join(", ");
}

function standingsTable({ rows, tie_breaks, has_byes }: StandingsDocument): string {
  if (rows.length === 0) return "<p class='empty'>No player has entered this league yet.</p>";
  const headings = ["Points", "Played", "Won", "Drawn", "Lost", ...(has_byes ? ["Byes"] : [])];
  const columns = [...headings, ...tie_breaks.map(({ heading }) => heading)];
  const cells = rows.map((row) => {
    const counts = [row.points, row.played, row.wins, row.draws, row.losses, ...(has_byes ? [row.byes] : [])];
    const numbers = [...counts, ...row.tie_breaks.map((value) => value ?? "")];
    return `<tr><td class="rank">${row.rank}</td><th scope="row"><bdi>${html(row.name)}</bdi></th>${numbers.map((number) => `<td class="n">${number}</td>`).join("")}</tr>`;
  });
  return `<div class="wide" tabindex="0" role="region" aria-label="Standings"><table class="data standings"><thead><tr><th scope="col" class="rank">#</th><th scope="col">Player</th>${columns.map((name) => `<th scope="col" class="n">${html(name)}</th>`).join("")}</tr></thead><tbody>${cells.join("")}</tbody></table></div>`;
}

/** Returns the content of the list of leagues for browsers without JavaScript. */
export function leaguesHtml({ leagues }: LeaguesDocument, servers: SiteServers): string {
  const items = leagues.map(
    (
      league,
    ) => `<li><article class="box league-card"><h2><a href="/leagues/${encodeURIComponent(league.league_id)}">${html(league.league_id)}</a></h2>
<p class="league-facts">${badgeOf(league)} ${html(factsOf(league))}</p></article></li>`,
  );
  return `<div class="site">${siteHeaderHtml(servers)}<main class="leagues"><h1>Leagues</h1><ul class="league-list">${items.join("")}</ul></main></div>`;
}
