import { findGameNamed } from "#shared/games/registry.ts";
import { counted, escapeJson, inOneLine } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { textTable } from "../../run/tables.ts";
import { matchesIn, matchesInDatabase, type RunMatch } from "./rated-matches.ts";
import { type GameRatings, ratingsOverRuns } from "./ratings-over-runs.ts";

/**
 * `league ratings`: prints the ratings of the bots of several runs, of folders and of a database. Resolves with the exit code. Rejects with StartError if
 * a folder has no league.
 */
export async function printRatings(
  folders: readonly string[],
  flags: { readonly game?: string; readonly json?: boolean; readonly database?: string | undefined },
): Promise<number> {
  const warn = (line: string): void => void process.stderr.write(`${inOneLine(line)}\n`);
  const matches: RunMatch[] = [];
  for (const folder of folders) matches.push(...(await matchesIn(folder, warn)));
  if (flags.database !== undefined) matches.push(...(await matchesInDatabase(flags.database)));
  const all = await ratingsOverRuns(matches);
  const { game } = flags;
  const shown = game === undefined ? all : all.filter((one) => one.game === (findGameNamed(game)?.id ?? game));
  if (shown.length === 0) throw new StartError(noMatches(game, all), EXIT.failed);
  const text = flags.json ? escapeJson(JSON.stringify({ games: shown }, null, 2)) : shown.map(tableOf).join("\n\n");
  process.stdout.write(`${text}\n`);
  for (const { game, runs_with_equal_seed: count } of shown) {
    if (count === 0) continue;
    const have = `${counted(count, "run")} of ${game} ${count === 1 ? "has" : "have"} the seed of another run`;
    warn(`${have}: deterministic bots repeat their matches, so the intervals are too narrow`);
  }
  return EXIT.ok;
}

function noMatches(game: string | undefined, all: readonly GameRatings[]): string {
  if (game === undefined || all.length === 0) return "no match is completed in these runs";
  return `no match of ${inOneLine(game)} is completed in these runs; there are matches of ${all.map((one) => one.game).join(", ")}`;
}

/** The number of characters of a hash in a table. */
const SHOWN_HASH = 8;

/** Returns the table of one game. Names and hashes are untrusted input. */
function tableOf({ game, runs, matches, model, players, comparisons }: GameRatings): string {
  const header = ["#", "Player", "Version", "Rating", "±", "Matches", "Score", "From", "To", "Stronger than the next"];
  const rows = players.map((row, index) => {
    const next = players[index + 1];
    const comparison = comparisons.find(
      ({ player, other }) => isSame(player, row) && next !== undefined && isSame(other, next),
    );
    return [
      ...[String(index + 1), inOneLine(row.name), inOneLine(row.bot_hash ?? "").slice(0, SHOWN_HASH)],
      ...[Math.round(row.rating), Math.round(row.error), row.matches].map(String),
      ...[row.percent === null ? "" : `${row.percent.toFixed(1)}%`, dateOf(row.first_at), dateOf(row.last_at)],
      comparison ? certainty(comparison) : "",
    ];
  });
  const title = `${inOneLine(game)}: ${counted(matches, "match", "matches")} in ${counted(runs, "run")}, ${model}`;
  return textTable(title, [header, ...rows]);
}

const isSame = (a: { name: string; bot_hash: string | null }, b: { name: string; bot_hash: string | null }): boolean =>
  a.name === b.name && a.bot_hash === b.bot_hash;

const dateOf = (at: string | null): string => inOneLine(at ?? "").slice(0, 10);

const certainty = ({ significant, likelihood }: GameRatings["comparisons"][number]): string =>
  `${significant ? "yes" : "not significant yet"} (${(100 * likelihood).toFixed(1)}%)`;
