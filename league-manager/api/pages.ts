import type { Express } from "express";
import { findGame } from "#shared/games/registry.ts";
import { newToken } from "#shared/lib/ids.ts";
import { escapeHtml } from "#shared/lib/text.ts";
import type { League, Match, Round } from "../league/league.ts";
import { publicReason, rolesOf, summaryOf } from "../league/outcome.ts";
import type { Standing } from "../league/standings.ts";
import { resultText } from "../projections/lines.ts";
import { roundNumber, roundOf, roundsShown } from "../projections/schedule.ts";
import { FOLLOW_SCRIPT } from "./page-script.ts";
import type { Views } from "./resources.ts";

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
    color: light-dark(#1a1a2e, #e8e8f0); background: light-dark(#fff, #16161d); }
  a { color: inherit; }
  .wide { overflow-x: auto; margin: .5rem 0 2rem; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid light-dark(#ddd, #3a3a48); }
  td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
  small { color: light-dark(#555, #a8a8b8); }
`;

/** The manager's page: standings and schedule of every league. A script follows the leagues' events; without scripts the browser reloads it. */
export const leaguePages =
  (views: Views) =>
  (app: Express): void => {
    app.get("/", (request, response) => {
      const { league, round } = request.query;
      const chosen = typeof league === "string" ? views.projections.league(league) : null;
      const nonce = newToken();
      response.set(
        "content-security-policy",
        `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; form-action 'none'`,
      );
      response.set("x-content-type-options", "nosniff");
      response.type("html").send(page(views, chosen ? { league: chosen, roundId: roundNumber(round) } : null, nonce));
    });
  };

/**
 * Rows of standings and schedules in one page: about 1 MB. Leagues beyond them show their leaders and a link to their own page. The first league
 * is always whole.
 */
const PAGE_ROWS = 4_000;
const LEADERS = 10;

/** One round of one league, when the page is asked for that alone. */
type Choice = { readonly league: League; readonly roundId: number } | null;

function page(views: Views, choice: Choice, nonce: string): string {
  const leagues = choice ? [choice.league] : views.projections.leagues();
  let rows = 0;
  const sections = leagues.map((league) => {
    const rounds = roundsOf(league, choice);
    const own =
      views.projections.standings(league).length + rounds.reduce((sum, { matches }) => sum + matches.length, 0);
    const isWhole = rows === 0 || rows + own <= PAGE_ROWS;
    if (isWhole) rows += own;
    return isWhole ? leagueSection(views, league, rounds) : leadersSection(views, league);
  });
  const isOver = leagues.every((league) => league.status === "completed");
  const refresh = isOver ? "" : '<noscript><meta http-equiv="refresh" content="5"></noscript>';
  const script = isOver ? "" : `<script nonce="${nonce}">${FOLLOW_SCRIPT}</script>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
${refresh}<title>League</title><style>${STYLE}</style></head><body><h1>League</h1><main>${sections.join("")}</main>${script}</body></html>`;
}

/** The rounds that a league's section shows. */
function roundsOf(league: League, choice: Choice): readonly Round[] {
  const chosen = choice && roundOf(league, choice.roundId);
  return chosen ? [chosen] : roundsShown(league);
}

function leagueSection({ projections }: Views, league: League, rounds: readonly Round[]): string {
  const nameOf = (playerId: string): string => projections.agent(playerId)?.name ?? playerId;
  const schedule = rounds.flatMap(({ matches }) => matches.map((match) => matchRow(league, match, nameOf)));
  return section(
    league,
    `${standingsTable(projections.standings(league))}
${roundLinks(league, rounds)}<div class="wide"><table><thead><tr><th>Match</th><th>Players</th><th>Status</th><th>Result</th></tr></thead><tbody>${schedule.join("")}</tbody></table></div>`,
  );
}

/** A league beyond the rows of a page. */
function leadersSection({ projections }: Views, league: League): string {
  const standings = projections.standings(league);
  const link = `<a href="/?league=${encodeURIComponent(league.leagueId)}">All ${standings.length} players and the schedule</a>`;
  return section(league, `${standingsTable(standings.slice(0, LEADERS))}\n<p>${link}</p>`);
}

function section({ leagueId, version, status, game }: League, content: string): string {
  const name = findGame(game)?.info.name ?? game;
  return `<section data-league="${escapeHtml(leagueId)}" data-version="${version}" data-status="${status}">
<h2>${escapeHtml(leagueId)} <small>${escapeHtml(name)}, ${status}</small></h2>
${content}</section>`;
}

function standingsTable(standings: readonly Standing[]): string {
  const rows = standings.map(
    (row) =>
      `<tr><td class="n">${row.rank}</td><td>${escapeHtml(row.display_name)} <small>${escapeHtml(row.player_id)}</small></td>` +
      [row.played, row.wins, row.draws, row.losses, row.points].map((n) => `<td class="n">${n}</td>`).join("") +
      "</tr>",
  );
  return `<div class="wide"><table><thead><tr><th class="n">#</th><th>Player</th><th class="n">Played</th><th class="n">Won</th><th class="n">Drawn</th>
<th class="n">Lost</th><th class="n">Points</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

function matchRow(league: League, match: Match, nameOf: (playerId: string) => string): string {
  const pairing = Object.entries(rolesOf(league, match)).map(
    ([role, id]) => `${escapeHtml(nameOf(id))} <small>${escapeHtml(role)}</small>`,
  );
  const points = match.outcome ? summaryOf(match).match_points : {};
  const result = match.outcome
    ? escapeHtml(resultText({ ...match.outcome, reason: publicReason(match.outcome), points }, nameOf))
    : "";
  return `<tr><td>${escapeHtml(match.matchId)}</td><td>${pairing.join(" – ")}</td><td>${match.status}</td><td>${result}</td></tr>`;
}

/** Where the other rounds are, below a part of the schedule. */
function roundLinks(league: League, shown: readonly Round[]): string {
  const { leagueId, rounds, completedCount, matchCount, currentRound } = league;
  const first = shown[0]?.roundId ?? 0;
  const last = shown.at(-1)?.roundId ?? 0;
  if (shown.length === rounds.length) return "";
  const link = (roundId: number, text: string): string =>
    roundId >= 1 && roundId <= rounds.length
      ? `<a href="/?league=${encodeURIComponent(leagueId)}&amp;round=${roundId}">${text}</a>`
      : "";
  const links = [
    link(1, "first"),
    link(first - 1, "previous"),
    currentRound === null ? "" : link(currentRound, "current"),
    link(last + 1, "next"),
    link(rounds.length, "last"),
  ].filter((one) => one !== "");
  const range = first === last ? `Round ${first}` : `Rounds ${first} to ${last}`;
  return `<p>${range} of ${rounds.length}; ${completedCount} of ${matchCount} matches are completed. Rounds: ${links.join(" · ")}</p>`;
}
