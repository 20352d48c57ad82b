import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chess } from "#shared/games/chess.ts";
import { invariant } from "#shared/lib/result.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { pgnOfMatch } from "../../../league-manager/pages/matches/match-pgn.ts";
import { actionLines } from "./actions.ts";
import { csvHeader, csvRow } from "./csv.ts";
import type { htmlReport } from "./html.ts";
import type { ReportFormat } from "./report-formats.ts";
import type { ReportLeague } from "./report-run.ts";
import { resultsOf } from "./results.ts";
import { crosstableTable, matchesTable, ratingsTable, standingsTable, type Table } from "./tables.ts";

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
