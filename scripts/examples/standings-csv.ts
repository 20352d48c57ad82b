import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The fields of `league.json` of an export that the table needs. */
interface ExportedRun {
  readonly leagues: readonly {
    readonly league_id: string;
    readonly standings: readonly Readonly<Record<string, string | number>>[];
  }[];
}

const COLUMNS = ["rank", "player_id", "display_name", "played", "wins", "draws", "losses", "points"] as const;

/** Spreadsheets detect UTF-8 by this character. */
const BYTE_ORDER_MARK = "\ufeff";

/** Returns the standings of all leagues of an export as CSV (RFC 4180), with one row for each player of each league. */
export function standingsCsv({ leagues }: ExportedRun): string {
  const rows = leagues.flatMap(({ league_id, standings }) =>
    standings.map((row) => [league_id, ...COLUMNS.map((column) => row[column] ?? "")]),
  );
  const lines = [["league", ...COLUMNS], ...rows].map((cells) => `${cells.map(cellOf).join(",")}\r\n`);
  return BYTE_ORDER_MARK + lines.join("");
}

/** A spreadsheet interprets a text that begins with one of these characters as a formula. Names are chosen by the players. */
const FORMULA = /^[=+\-@]/;

function cellOf(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const [, , folder = "league-export", file = "standings.csv"] = process.argv;
if (import.meta.main) {
  writeFileSync(file, standingsCsv(JSON.parse(readFileSync(join(folder, "league.json"), "utf8"))));
  process.stdout.write(`The standings of ${folder} are in ${file}\n`);
}
