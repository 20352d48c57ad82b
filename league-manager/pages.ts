import type { Express } from "express";
import { escapeHtml } from "#shared/lib/text.ts";
import { nameIn, resultLine } from "./events.ts";
import type { League } from "./league.ts";
import type { Manager } from "./manager.ts";

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
    color: light-dark(#1a1a2e, #e8e8f0); background: light-dark(#fff, #16161d); }
  .wide { overflow-x: auto; margin: .5rem 0 2rem; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid light-dark(#ddd, #3a3a48); }
  td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
  small { color: light-dark(#555, #a8a8b8); }
`;

/** The manager's page: standings and schedule of every league, made anew at each request and reloaded by the browser. */
export const leaguePages =
  (manager: Manager) =>
  (app: Express): void => {
    app.get("/", (_request, response) => {
      response.set(
        "content-security-policy",
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
      );
      response.set("x-content-type-options", "nosniff");
      response.type("html").send(page(manager));
    });
  };

function page(manager: Manager): string {
  const leagues = [...manager.leagues.values()].map((league) => leagueSection(manager, league)).join("");
  const isOver = [...manager.leagues.values()].every((league) => league.status === "completed");
  const refresh = isOver ? "" : '<meta http-equiv="refresh" content="5">';
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
${refresh}<title>League</title><style>${STYLE}</style></head><body><h1>League</h1>${leagues}</body></html>`;
}

function leagueSection(manager: Manager, league: League): string {
  const { league_id } = league.config;
  const { name } = league.game.info;
  const standings = manager.standings(league);
  const rows = standings.map(
    (row) =>
      `<tr><td class="n">${row.rank}</td><td>${escapeHtml(row.display_name)} <small>${escapeHtml(row.player_id)}</small></td>` +
      [row.played, row.wins, row.draws, row.losses, row.points].map((n) => `<td class="n">${n}</td>`).join("") +
      "</tr>",
  );
  const schedule = [...league.matches.values()].map((match) => {
    const pairing = Object.entries(match.roles).map(
      ([role, id]) => `${escapeHtml(nameIn(standings, id))} <small>${escapeHtml(role)}</small>`,
    );
    const result = match.result ? escapeHtml(resultLine(match.result, standings)) : "";
    return `<tr><td>${escapeHtml(match.matchId)}</td><td>${pairing.join(" – ")}</td><td>${match.status}</td><td>${result}</td></tr>`;
  });
  return `<h2>${escapeHtml(league_id)} <small>${escapeHtml(name)}, ${league.status}</small></h2>
<div class="wide"><table><thead><tr><th class="n">#</th><th>Player</th><th class="n">Played</th><th class="n">Won</th><th class="n">Drawn</th>
<th class="n">Lost</th><th class="n">Points</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>
<div class="wide"><table><thead><tr><th>Match</th><th>Players</th><th>Status</th><th>Result</th></tr></thead><tbody>${schedule.join("")}</tbody></table></div>`;
}
