import { deflateRawSync } from "node:zlib";
import { reasonInWords, spoken } from "#shared/games/game.ts";
import { findGame, knownGames } from "#shared/games/registry.ts";
import { counted, escapeHtml, escapeUnprintable } from "#shared/lib/text.ts";
import { type Crosstable, cellText } from "#shared/standings/crosstable.ts";
import { tieBreakColumns } from "#shared/standings/tie-breaks.ts";
import type { RatingTable } from "#shared/statistics/rating-table.ts";
import { reportPage } from "#shared/web/bundle.ts";
import { factsOf, type PackedReplay, type Replay } from "#shared/web/game-view.ts";
import { intervalDrawing, likelihoodText } from "#shared/web/rating-interval.ts";
import { publicReason } from "../../../league-manager/league/outcome.ts";
import { replayOf } from "../../../league-manager/pages/matches/match-replay.ts";
import type { ExportedMatch } from "../format.ts";
import { type ReportLeague, resultsOf } from "./report-run.ts";

/** The maximum size of all replays of a report, in characters. */
const MAX_REPLAY_CHARACTERS = 8_000_000;
/** The maximum number of replays, which are the items of one list. */
const MAX_REPLAYS = 1_000;
/** The maximum number of matches of a league that a report lists. */
const MAX_LISTED = 500;

/** Resolves with a function that writes leagues as one HTML document: standings, crosstables, ratings, matches and their replays. */
export async function htmlReport(): Promise<(leagues: readonly ReportLeague[]) => Promise<string>> {
  const page = await reportPage();
  return async (leagues) => {
    const replays = collector();
    const sections: string[] = [];
    for (const league of leagues) sections.push(await sectionOf(league, replays));
    const title = `Report: ${leagues.map(({ league_id }) => escapeUnprintable(league_id)).join(", ")}`;
    const main = `<main><h1>${html(title)}</h1>
${sections.join("\n")}
${replaysHtml(replays)}</main>`;
    return page({ title, main, setup: { games: factsOf(knownGames()), replays: replays.list } });
  };
}

/** The replays of a report. */
interface Replays {
  readonly list: PackedReplay[];
  /** Adds the replay of a match. Returns its anchor, or null if it has no replay or the report is full. */
  add(match: ExportedMatch, label: string, nameOf: (id: string) => string): string | null;
  /** The number of matches with actions that were not added. */
  readonly omitted: number;
}

function collector(): Replays {
  const list: PackedReplay[] = [];
  let size = 0;
  let omitted = 0;
  return {
    list,
    get omitted() {
      return omitted;
    },
    add(match, label, nameOf) {
      const isFull = list.length >= MAX_REPLAYS || size >= MAX_REPLAY_CHARACTERS;
      const replay = isFull ? null : replayOf(match, nameOf);
      const one = replay && packed(`replay-${list.length + 1}`, label, replay);
      if (one === null || size + one.data.length > MAX_REPLAY_CHARACTERS) {
        if (match.log.length > 0) omitted++;
        return null;
      }
      size += one.data.length;
      list.push(one);
      return one.anchor;
    },
  };
}

async function sectionOf(league: ReportLeague, replays: Replays): Promise<string> {
  const { league_id, game, status } = league;
  const { crosstable, ratings } = await resultsOf(league);
  return `<section><h2>${html(league_id)} <small>${html(findGame(game)?.info.name ?? game)}, ${html(status)}</small></h2>
${standingsHtml(league)}
${crosstableHtml(league_id, crosstable)}
${ratingsHtml(league, ratings)}
${await matchesHtml(league, replays)}</section>`;
}

async function matchesHtml({ league_id, players, byes, matches }: ReportLeague, replays: Replays): Promise<string> {
  const names = new Map(players.map(({ player_id, display_name }) => [player_id, escapeUnprintable(display_name)]));
  const nameOf = (id: string): string => names.get(id) ?? escapeUnprintable(id);
  const rows: string[] = [];
  let count = 0;
  let listed = 0;
  const roundsWithByes = [...byes];
  /** Adds the byes of the rounds before a round. They come after the matches of their round. */
  const addByesBefore = (roundId: number): void => {
    while ((roundsWithByes[0]?.round_id ?? roundId) < roundId) {
      const { round_id, players: withBye } = roundsWithByes.shift() as ReportLeague["byes"][number];
      rows.push(
        `<tr><td>R${round_id}</td><td class="name">${html(withBye.map(nameOf).join(", "))}</td><td></td><td>bye</td><td></td></tr>`,
      );
    }
  };
  for await (const match of matches()) {
    count++;
    const seats = Object.entries(match.roles).map(([role, id]) => `${nameOf(id)} (${spoken(role)})`);
    const label = `${league_id} ${match.match_id}: ${seats.join(" – ")}`;
    const anchor = replays.add(match, escapeUnprintable(label), nameOf);
    if (listed >= MAX_LISTED) continue;
    listed++;
    addByesBefore(match.round_id);
    const points = Object.values(match.roles).map((id) => match.match_points[id] ?? "–");
    const link =
      anchor === null ? "" : `<a href="#${anchor}">Replay <span class="unseen">of ${html(match.match_id)}</span></a>`;
    rows.push(
      `<tr><td>${html(match.match_id)}</td><td class="name">${html(seats.join(" – "))}</td><td>${html(points.join(" : "))}</td><td>${html(resultText(match))}</td><td>${link}</td></tr>`,
    );
  }
  if (count === listed) addByesBefore(Number.POSITIVE_INFINITY);
  if (rows.length === 0) return "<h3>Matches</h3>\n<p>No match is completed.</p>";
  const more =
    count > listed
      ? `<p>The first ${listed} of ${counted(count, "match", "matches")}. The format csv writes all of them.</p>`
      : "";
  return `<h3>Matches</h3>
${scrolling(`Matches of ${league_id}`, `<table><thead><tr>${MATCH_HEAD.map((name) => `<th scope="col">${name}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`)}
${more}`;
}

const MATCH_HEAD = ["Match", "Players", "Points", "End", "Replay"];

const resultText = (match: ExportedMatch): string => {
  const reason = reasonInWords(publicReason(match));
  return match.termination === "forfeit" ? `forfeit: ${reason}` : reason;
};

function replaysHtml({ list, omitted }: Replays): string {
  if (list.length === 0) return "";
  const more =
    omitted > 0
      ? `<p>${counted(omitted, "further match", "further matches")} would make this file too large. The format jsonl writes all actions.</p>`
      : "";
  return `<section><h2>Replays</h2>
<div id="replays"><p>The replays need a browser with JavaScript.</p></div>
${more}</section>`;
}

/** Returns a text of the export for HTML. It is untrusted input. */
const html = (value: unknown): string => escapeHtml(escapeUnprintable(String(value ?? "")));

/** A table that scrolls inside of the page if it is wider. The region is reachable by the keyboard. */
const scrolling = (label: string, table: string): string =>
  `<div class="wide" role="region" aria-label="${html(label)}" tabindex="0">${table}</div>`;

const head = (columns: readonly string[], numeric: (index: number) => boolean): string =>
  `<thead><tr>${columns.map((name, index) => `<th scope="col"${numeric(index) ? ' class="n"' : ""}>${name}</th>`).join("")}</tr></thead>`;

const playerCell = (name: string, id: string): string =>
  `<th scope="row" class="name">${html(name)}${name === id ? "" : ` <small>${html(id)}</small>`}</th>`;

const numberCell = (value: unknown): string => `<td class="n">${html(value)}</td>`;

/** Returns the standings of the players, and those of the teams before them if the league has teams. */
function standingsHtml({ league_id, standings, teams }: ReportLeague): string {
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
    "#",
    competitor,
    "Points",
    "Played",
    "Won",
    "Drawn",
    "Lost",
    ...(hasByes ? ["Byes"] : []),
    ...tieBreaks.map(({ heading }) => html(heading)),
  ];
  return scrolling(label, `<table>${head(columns, (index) => index !== 1)}<tbody>${rows.join("")}</tbody></table>`);
}

/** The maximum number of players of a crosstable in a report. */
const MAX_CROSSTABLE = 60;

/** Returns the crosstable: 1, = and 0, and + and - for a match that was decided by a forfeit. */
function crosstableHtml(league_id: string, { players, results }: Crosstable): string {
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
function ratingsHtml({ league_id, players }: ReportLeague, { rows, comparisons, matches, model }: RatingTable): string {
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

/** Compresses a replay for a page. */
export const packed = (anchor: string, label: string, replay: Replay): PackedReplay => ({
  anchor,
  label,
  data: deflateRawSync(JSON.stringify(replay)).toString("base64"),
});
