import { findGame } from "#shared/games/registry.ts";
import { escapeHtml } from "#shared/lib/text.ts";
import type { Standing } from "#shared/standings/standings.ts";
import { tieBreakColumns } from "#shared/standings/tie-breaks.ts";
import type { Awaited } from "../../agents/awaited-players.ts";
import { formatText } from "../../league/format-view.ts";
import type { League, Match, Round } from "../../league/league.ts";
import { publicReason, rolesOf, summaryOf } from "../../league/outcome.ts";
import { resultText, waitingText } from "../../projections/lines.ts";
import type { Projections } from "../../projections/projections.ts";

const LEADERS = 10;

/** The section of a league, with its standings and these rounds of its schedule. */
export function leagueSection(
  projections: Projections,
  league: League,
  rounds: readonly Round[],
  awaited: Awaited | null,
): string {
  const nameOf = (playerId: string): string => projections.agent(playerId)?.name ?? playerId;
  const matches = rounds.flatMap((round) => roundRows(league, round, nameOf));
  return section(
    league,
    `${waiting(awaited)}${standingsTable(projections.standings(league))}\n${roundLinks(league, rounds)}${matchesTable(matches)}`,
  );
}

/** The short section of a league, with its leaders and a link to its own page. */
export function leadersSection(projections: Projections, league: League, awaited: Awaited | null): string {
  const standings = projections.standings(league);
  const link = `<a href="${pathOf(league)}">All ${standings.length} players and the schedule</a>`;
  return section(league, `${waiting(awaited)}${standingsTable(standings.slice(0, LEADERS))}\n<p>${link}</p>`);
}

/** The paragraph that states what an open league waits for. */
const waiting = (awaited: Awaited | null): string => (awaited ? `<p>${escapeHtml(waitingText(awaited))}.</p>\n` : "");

/** A list of links to the pages of leagues. */
export const leagueList = (leagues: readonly League[]): string =>
  `<ul>${leagues.map((league) => `<li><a href="${pathOf(league)}">${escapeHtml(league.leagueId)}</a> ${leagueSummary(league)}</li>`).join("")}</ul>`;

/** The path of a league's own page, without characters that HTML attributes escape. */
const pathOf = ({ leagueId }: League): string => `/?league=${encodeURIComponent(leagueId)}`;

function leagueSummary(league: League): string {
  const { game, status } = league;
  const format = formatText(league);
  const texts = [findGame(game)?.info.name ?? game, ...(format === null ? [] : [format]), status];
  return `<small>${escapeHtml(texts.join(", "))}</small>`;
}

function section(league: League, content: string): string {
  const id = escapeHtml(league.leagueId);
  return `<section data-league="${id}" data-version="${league.version}" data-status="${league.status}">
<h2>${id} ${leagueSummary(league)}</h2>
${content}</section>`;
}

/** The numeric columns of the standings: heading, and heading on a narrow screen. */
const FIGURES = [
  ["Played", "P"],
  ["Won", "W"],
  ["Drawn", "D"],
  ["Lost", "L"],
  ["Points", "Pts"],
] satisfies readonly (readonly [heading: string, short: string])[];
const headingOf = (heading: string, short: string): string =>
  `<th class="n" aria-label="${heading}" data-short="${short}"><span>${heading}</span></th>`;

function standingsTable(standings: readonly Standing[]): string {
  if (standings.length === 0) return "<p>No player has entered this league yet.</p>";
  const hasByes = standings[0]?.byes !== undefined;
  const tieBreaks = tieBreakColumns(standings);
  const figures = hasByes ? FIGURES.toSpliced(-1, 0, ["Byes", "B"]) : FIGURES;
  const headings = [
    ...figures.map(([heading, short]) => headingOf(heading, short)),
    ...tieBreaks.map(({ heading }) => headingOf(heading, heading)),
  ];
  const rows = standings.map((row) => {
    const { rank, display_name, player_id, played, wins, draws, losses, byes = 0, points, tie_breaks = {} } = row;
    const counts = [played, wins, draws, losses, ...(hasByes ? [byes] : []), points];
    const cells = [...counts, ...tieBreaks.map(({ id }) => tie_breaks[id] ?? "")].map((n) => `<td class="n">${n}</td>`);
    const player = `${escapeHtml(display_name)} <small>${escapeHtml(player_id)}</small>`;
    return `<tr><td class="n">${rank}</td><td>${player}</td>${cells.join("")}</tr>`;
  });
  return `<div class="wide"><table><thead><tr><th class="n">#</th><th>Player</th>${headings.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

const matchesTable = (rows: readonly string[]): string =>
  rows.length === 0
    ? "<p>The matches are listed here when the league has started.</p>"
    : `<div class="wide"><table class="matches"><thead><tr><th>Match</th><th>Players</th><th>Status</th><th>Result</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;

/** The rows of a round: its name, its matches and its byes. */
const roundRows = (league: League, round: Round, nameOf: (playerId: string) => string): readonly string[] => [
  ...(round.label === null ? [] : [`<tr><th colspan="4">${escapeHtml(round.label)}</th></tr>`]),
  ...round.matches.map((match) => matchRow(league, match, nameOf)),
  ...round.byes.map(
    (id) => `<tr><td>R${round.roundId}</td><td>${escapeHtml(nameOf(id))}</td><td>bye</td><td></td></tr>`,
  ),
];

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

/** The range of the shown rounds, with links to other rounds; empty if all rounds are shown. */
function roundLinks(league: League, shown: readonly Round[]): string {
  const { rounds, completedCount, matchCount, currentRound } = league;
  const first = shown[0]?.roundId ?? 0;
  const last = shown.at(-1)?.roundId ?? 0;
  if (shown.length === rounds.length) return "";
  const link = (roundId: number, text: string): string =>
    roundId >= 1 && roundId <= rounds.length ? `<a href="${pathOf(league)}&amp;round=${roundId}">${text}</a>` : "";
  const links = [
    link(1, "first"),
    link(first - 1, "previous"),
    currentRound === null ? "" : link(currentRound, "current"),
    link(last + 1, "next"),
    link(rounds.length, "last"),
  ].filter((html) => html !== "");
  const range = first === last ? `Round ${first}` : `Rounds ${first} to ${last}`;
  return `<p>${range} of ${rounds.length}; ${completedCount} of ${matchCount} matches are completed. Rounds: ${links.join(" · ")}</p>`;
}
