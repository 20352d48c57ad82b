import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chess } from "#shared/games/chess.ts";
import { invariant } from "#shared/lib/result.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { parseEntry } from "#shared/session/entry.ts";
import type { CrosstableResult } from "#shared/standings/crosstable.ts";
import { publicReason } from "../../../league-manager/league/outcome.ts";
import { pgnOfMatch } from "../../../league-manager/pages/matches/match-pgn.ts";
import type { ExportedMatch } from "../format.ts";
import type { htmlReport } from "./html.ts";
import type { ReportFormat } from "./report-formats.ts";
import { type ReportLeague, type Results, resultsOf } from "./report-run.ts";

/** A text in parts, so that it is never in memory as a whole. */
type Parts = Iterable<string> | AsyncIterable<string>;

/** A file of a report. */
interface ReportFile {
  readonly name: string;
  readonly parts: Parts;
}

/** Returns the files of a format. */
async function filesOf(
  format: ReportFormat,
  leagues: readonly ReportLeague[],
  html: HtmlReport | null,
): Promise<readonly ReportFile[]> {
  switch (format) {
    case "csv": {
      const withResults = await Promise.all(
        leagues.map(async (league) => ({ league, results: await resultsOf(league) })),
      );
      return [
        { name: "standings.csv", parts: csvOf(standingsTable(leagues)) },
        { name: "crosstable.csv", parts: csvOf(crosstableTable(withResults)) },
        { name: "ratings.csv", parts: csvOf(ratingsTable(withResults)) },
        { name: "matches.csv", parts: csvOf(matchesTable(leagues)) },
      ];
    }
    case "pgn":
      return [{ name: "games.pgn", parts: pgnGames(leagues) }];
    case "html":
      invariant(html, "the format html has its writer");
      return [{ name: "report.html", parts: [await html(leagues)] }];
    case "jsonl":
      return [{ name: "actions.jsonl", parts: allActions(leagues) }];
  }
}

async function* csvOf({ columns, rows }: Table): AsyncIterable<string> {
  yield csvHeader(columns);
  for await (const row of rows) yield csvRow(row);
}

async function* allActions(leagues: readonly ReportLeague[]): AsyncIterable<string> {
  for (const { matches } of leagues) for await (const match of matches()) yield* actionLines(match);
}

async function* pgnGames(leagues: readonly ReportLeague[]): AsyncIterable<string> {
  for (const { game, players, matches } of leagues) {
    if (game !== chess.id) continue;
    const names = new Map(players.map(({ player_id, display_name }) => [player_id, display_name]));
    for await (const match of matches()) yield pgnOfMatch(match, (id) => names.get(id) ?? id);
  }
}

type HtmlReport = Awaited<ReturnType<typeof htmlReport>>;

/** Writes reports into a folder, in place of earlier ones. `html` is required for the format html. Resolves with the names of the files. Rejects with StartError if a report cannot be written. */
export async function writeReports(
  folder: string,
  formats: readonly ReportFormat[],
  leagues: readonly ReportLeague[],
  html: HtmlReport | null = null,
): Promise<readonly string[]> {
  if (formats.includes("pgn") && !leagues.some(({ game }) => game === chess.id)) {
    const games = [...new Set(leagues.map(({ game }) => game))].map(inOneLine);
    throw new StartError(`the format pgn is for ${chess.id}; the leagues play ${games.join(", ")}`, EXIT.usage);
  }
  mkdirSync(folder, { recursive: true });
  const names: string[] = [];
  for (const format of formats) {
    for (const { name, parts } of await filesOf(format, leagues, html)) {
      await writeInParts(join(folder, name), parts);
      names.push(name);
    }
  }
  return names;
}

/** The number of characters that are written at once. */
const CHUNK_CHARACTERS = 1 << 16;

/** Writes a file. An earlier file is replaced only when the new one is complete. */
async function writeInParts(file: string, parts: Parts): Promise<void> {
  const unfinished = `${file}.part`;
  const opened = openSync(unfinished, "w");
  try {
    let pending = "";
    for await (const text of parts) {
      pending += text;
      if (pending.length < CHUNK_CHARACTERS) continue;
      writeFileSync(opened, pending);
      pending = "";
    }
    writeFileSync(opened, pending);
    renameSync(unfinished, file);
  } finally {
    closeSync(opened);
    rmSync(unfinished, { force: true });
  }
}

/** A table with one header for the rows of all leagues. */
interface Table {
  readonly columns: readonly string[];
  readonly rows: Iterable<readonly Cell[]> | AsyncIterable<readonly Cell[]>;
}

/** Returns the standings of all leagues. The tie-breaks of a league are columns, empty in the rows of leagues without them. */
function standingsTable(leagues: readonly ReportLeague[]): Table {
  const rows = leagues.flatMap(({ league_id, standings }) =>
    standings.map(({ tie_breaks, ...row }) => ({ league: league_id, ...row, ...fieldsOf(tie_breaks) })),
  );
  return tableOf(["league", ...STANDINGS_COLUMNS], rows);
}

const STANDINGS_COLUMNS = ["rank", "player_id", "display_name", "played", "wins", "draws", "losses", "points"] as const;

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

/** Returns a table with these columns first and then all other fields of the rows. */
function tableOf(first: readonly string[], rows: readonly Readonly<Record<string, unknown>>[]): Table {
  const columns = [...new Set([...first, ...rows.flatMap((row) => Object.keys(row))])];
  return { columns, rows: rows.map((row) => columns.map((column) => cellOf(row[column]))) };
}

const cellOf = (value: unknown): Cell =>
  value === undefined || value === null
    ? null
    : typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? value
      : JSON.stringify(value);

/**
 * Returns the crosstables of all leagues. The column `vs_2` has the points against the player with the number 2 of the same league, empty without a
 * match.
 */
function crosstableTable(leagues: readonly LeagueResults[]): Table {
  const size = Math.max(0, ...leagues.map(({ results }) => results.crosstable.players.length));
  const numbers = Array.from({ length: size }, (_, index) => index + 1);
  const rows = leagues.flatMap(({ league, results: { crosstable } }) =>
    crosstable.players.map(({ player_id, display_name, points }, index): readonly Cell[] => [
      league.league_id,
      index + 1,
      player_id,
      display_name,
      points,
      ...numbers.map((n) => pointsIn(crosstable.results[index]?.[n - 1] ?? [])),
    ]),
  );
  const columns = ["league", "number", "player_id", "display_name", "points", ...numbers.map((n) => `vs_${n}`)];
  return { columns, rows };
}

/** A league with its results. */
interface LeagueResults {
  readonly league: ReportLeague;
  readonly results: Results;
}

const pointsIn = (results: readonly CrosstableResult[]): number | null =>
  results.length === 0 ? null : results.reduce((sum, { points }) => sum + points, 0);

/** Returns the ratings of all leagues, the strongest player of each league first. */
function ratingsTable(leagues: readonly LeagueResults[]): Table {
  const rows = leagues.flatMap(({ league: { league_id, players }, results: { ratings } }) => {
    const names = new Map(players.map(({ player_id, display_name }) => [player_id, display_name]));
    return ratings.rows.map(({ player, rating, error, matches, percent }): readonly Cell[] => [
      league_id,
      player,
      names.get(player) ?? player,
      rating,
      error,
      rounded(rating - error),
      rounded(rating + error),
      matches,
      percent,
      ratings.model,
    ]);
  });
  return { columns: RATING_COLUMNS, rows };
}

const RATING_COLUMNS = [
  "league",
  "player_id",
  "display_name",
  "rating",
  "error_95",
  "lower_95",
  "upper_95",
  "matches",
  "percent",
  "model",
];

const rounded = (value: number): number => Math.round(value * 10) / 10;

/** Returns the completed matches of all leagues in the order of their rounds. Each role has four columns. */
function matchesTable(leagues: readonly ReportLeague[]): Table {
  const roleCount = Math.max(2, ...leagues.map(({ roles }) => roles.length));
  const numbers = Array.from({ length: roleCount }, (_, index) => index + 1);
  const roleColumns = numbers.flatMap((n) => [`role_${n}`, `player_${n}`, `name_${n}`, `points_${n}`]);
  return { columns: [...MATCH_COLUMNS, ...roleColumns], rows: matchRows(leagues, roleCount) };
}

const MATCH_COLUMNS = [
  "league",
  "game",
  "round",
  "match_id",
  "epoch",
  "referee_id",
  "started_at",
  "ended_at",
  "actions",
  "winner",
  "termination",
  "reason",
] as const;

async function* matchRows(leagues: readonly ReportLeague[], roleCount: number): AsyncIterable<readonly Cell[]> {
  for (const { players, matches } of leagues) {
    const names = new Map(players.map(({ player_id, display_name }) => [player_id, display_name]));
    for await (const match of matches()) {
      const { league_id, game, round_id, match_id, epoch, referee_id, winner, termination, match_points } = match;
      const entries = match.log.map(parseEntry);
      const actions = entries.filter(({ type }) => type === "acted").length;
      const times = [entries.at(0)?.at ?? null, entries.at(-1)?.at ?? null];
      const roles = Object.entries(match.roles).flatMap(([role, id]): Cell[] => [
        role,
        id,
        names.get(id) ?? id,
        match_points[id] ?? null,
      ]);
      const noRoles = Array.from({ length: roleCount * 4 - roles.length }, () => null);
      yield [
        league_id,
        game,
        round_id,
        match_id,
        epoch,
        referee_id,
        ...times,
        actions,
        winner,
        termination,
        publicReason(match),
        ...roles,
        ...noRoles,
      ];
    }
  }
}

/** An action of a completed match, as a line of `actions.jsonl`. */
interface ActionLine {
  readonly league_id: string;
  readonly match_id: string;
  /** The number of actions before this one. */
  readonly tick: number;
  readonly role: string;
  readonly player_id: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly action: unknown;
  /** The time that the role was charged; absent in a match without clocks. */
  readonly spent_ms?: number;
}

/** Yields the actions of a match as lines of JSON (JSON Lines). */
function* actionLines({ league_id, match_id, roles, log }: ExportedMatch): Iterable<string> {
  for (const text of log) {
    const entry = parseEntry(text);
    if (entry.type !== "acted") continue;
    const { tick, role, at: time, action, spent_ms } = entry;
    const line: ActionLine = {
      league_id,
      match_id,
      tick,
      role,
      player_id: roles[role] ?? "",
      time,
      action,
      ...(spent_ms !== undefined && { spent_ms }),
    };
    yield `${JSON.stringify(line)}\n`;
  }
}

/** A cell of a table. null is an empty cell. */
export type Cell = string | number | boolean | null;

/** Spreadsheets detect UTF-8 by this character. */
const BYTE_ORDER_MARK = "\ufeff";

/** Returns the beginning of a CSV file: the names of its columns. */
export const csvHeader = (columns: readonly string[]): string => BYTE_ORDER_MARK + csvRow(columns);

/** Returns a row as CSV (RFC 4180). */
export const csvRow = (cells: readonly Cell[]): string => `${cells.map(cellText).join(",")}\r\n`;

/** A spreadsheet interprets a text that begins with one of these characters as a formula. Names are chosen by the players. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/u;

/** A cell with one of these characters is quoted. Semicolons and tabs separate cells in some spreadsheets. */
const QUOTED = /[",;\t\r\n]/;

/** Returns a cell as CSV. An apostrophe before a text that would be a formula makes it harmless; numbers are not changed. */
function cellText(value: Cell): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
