import { reasonInWords, spoken } from "#shared/games/game.ts";
import { findGame, knownGames } from "#shared/games/registry.ts";
import { counted, escapeUnprintable } from "#shared/lib/text.ts";
import { factsOf } from "#shared/web/game-facts.ts";
import type { PackedReplay } from "#shared/web/replay-view.ts";
import { reportPage } from "#shared/web/report-page.ts";
import { publicReason } from "../../../league-manager/league/outcome.ts";
import { replayOf } from "../../../league-manager/pages/matches/match-replay.ts";
import type { ExportedMatch } from "../format.ts";
import { crosstableHtml, html, ratingsHtml, scrolling, standingsHtml } from "./html-tables.ts";
import { packed } from "./replays.ts";
import type { ReportLeague } from "./report-run.ts";
import { resultsOf } from "./results.ts";

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
