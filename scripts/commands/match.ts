import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { findFormat } from "#shared/formats/registry.ts";
import { teamIdOf } from "#shared/formats/teams.ts";
import { findGame } from "#shared/games/registry.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { playerId, systemIds } from "#shared/lib/ids.ts";
import { DATA_FOLDER } from "#shared/runtime/defaults.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import type { SprtOptions } from "#shared/statistics/sprt.ts";
import type { League } from "../../league-manager/league/league.ts";
import { withLeagues } from "../archive/reports/report-run.ts";
import { writeReports } from "../archive/reports/write-reports.ts";
import { type MatchState, type MatchTerms, matchState } from "../match/comparison.ts";
import { durationText } from "../match/live-line.ts";
import { playLocally } from "../match/local/play-locally.ts";
import { playOverWire } from "../match/play-over-wire.ts";
import { matchDocument, reportText } from "../match/report.ts";
import { type MatchSystem, pairCount, type SetupFlags, setupOf } from "../match/setup.ts";
import { isMatchRun, readTerms, type Terms, writeTerms } from "../match/terms-file.ts";
import { beginRun, type RunFolder, resumeRun } from "../run/run-folder.ts";
import { namedBots } from "./named-bots.ts";
import { gameHead } from "./named-game.ts";

interface MatchFlags extends SetupFlags {
  readonly json?: boolean;
  /** The folder for reports, or true for the default folder. */
  readonly csv?: string | true;
  readonly resume?: boolean;
  readonly quiet?: boolean;
}

interface MatchRun {
  readonly folder: RunFolder;
  readonly terms: Terms;
  readonly flags: MatchFlags;
  readonly matchTerms: MatchTerms;
}

const SYSTEM: MatchSystem = { clock: systemClock, ids: systemIds, disk: systemDisk(systemClock) };

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * `league match`: plays games between bots and prints how strong they are. Resolves with the exit code: 0, 1 after a failure or if no game counts, 130
 * after Ctrl-C.
 */
export async function match(bots: readonly string[], flags: MatchFlags): Promise<number> {
  const { folder, terms, openingsNotice } = flags.resume ? await resumed(bots, flags) : await begun(bots, flags);
  const run = { folder, terms, flags, matchTerms: matchTermsOf(folder, terms) };
  const play = { folder, matchTerms: run.matchTerms, isQuiet: flags.quiet ?? false };
  const startedAt = systemClock.monotonic();
  const ended =
    terms.mode === "local"
      ? await playLocally({ ...play, system: SYSTEM, terms })
      : await playOverWire({ ...play, clock: systemClock });
  // The result is printed last, so that a terminal ends with the sentence that states it. It is also printed if a file cannot be written.
  try {
    if (ended.league) await writeFiles(run);
    printNotices(run, (systemClock.monotonic() - startedAt) / 1000);
    if (openingsNotice !== null) say(openingsNotice);
  } finally {
    if (ended.league) printResult(run, ended.league, ended.exitCode);
  }
  return ended.league && ended.exitCode === EXIT.ok && !hasResult(ended.league, run) ? EXIT.failed : ended.exitCode;
}

/** Whether a game counts. Games that both players forfeited, and aborted games, do not. */
const hasResult = (league: League, { matchTerms }: MatchRun): boolean =>
  matchState(league, matchTerms).comparisons.some(({ games }) => games > 0);

function printNotices({ folder, flags }: MatchRun, seconds: number): void {
  if (!flags.quiet) {
    const logs = join(folder.path, "logs");
    if (existsSync(logs)) say(`what the bots have written, with their errors, is in ${resolve(logs)}`);
    say(`played in ${durationText(seconds)}; logs and results are in ${resolve(folder.path)}`);
  }
  if (folder.isUnfinished())
    say(`the match is not complete; continue it with: ${LEAGUE_COMMAND} match --resume${dataFlag(flags)}`);
}

const dataFlag = ({ data }: MatchFlags): string => (data === DATA_FOLDER ? "" : ` --data ${data}`);

async function begun(bots: readonly string[], flags: MatchFlags) {
  // The command line alone determines the match. The manager would apply the variables to its config.
  for (const name of Object.keys(process.env)) if (name.startsWith("LEAGUE__")) delete process.env[name];
  const { config, seed, terms, wireReason, openingsNotice } = await setupOf(bots, flags, SYSTEM);
  if (wireReason !== null && !flags.quiet) say(`${wireReason}: the games are played over HTTP, as with --wire`);
  const folder = beginRun(config, seed, systemClock);
  writeTerms(folder.path, terms);
  return { folder, terms, openingsNotice };
}

async function resumed(bots: readonly string[], flags: MatchFlags) {
  if (bots.length > 0) throw new StartError("--resume continues with the bots of the match: omit the bots", EXIT.usage);
  const folder = await resumeRun(flags.data, say, isMatchRun);
  const terms = readTerms(folder.path);
  if (!flags.quiet) say(`continuing ${resolve(folder.path)}: ${terms.bots.join(", ")}`);
  return { folder, terms: { ...terms, concurrency: flags.concurrency ?? terms.concurrency }, openingsNotice: null };
}

function matchTermsOf({ config }: RunFolder, { bots }: Terms): MatchTerms {
  const [league] = config.leagues;
  const players = namedBots(bots).map((named, index) => ({
    playerId: league?.teams ? teamIdOf(index) : playerId(index + 1),
    ...named,
  }));
  const options = findFormat(league?.format ?? "")?.options.parse(league?.format_options ?? {});
  const { games, max_games } = options as { readonly games?: number; readonly max_games?: number };
  const pairs = pairCount(players.length, league?.format === "gauntlet");
  return {
    players,
    test: league?.format === "sprt" ? (options as SprtOptions) : null,
    hasOpenings: league?.openings !== undefined,
    total: (games ?? max_games ?? 0) * pairs,
  };
}

const gamesText = ({ games: { completed, total }, test }: MatchState): string =>
  test ? `${completed} games, at most ${total}` : `${completed} of ${total} games`;

/** Prints the result on stdout, also the partial one of an interrupted match. */
function printResult({ terms, flags, folder, matchTerms }: MatchRun, league: League, exitCode: number): void {
  const state = matchState(league, matchTerms);
  const { game, options } = league;
  const { seed } = folder;
  const status = exitCode === EXIT.ok ? "completed" : "interrupted";
  const text = flags.json
    ? JSON.stringify(matchDocument(state, { game, options, seed, mode: terms.mode, status }), null, 2)
    : reportText(`${gameHead(game, findGame(game), options)}, ${gamesText(state)}, seed ${seed}`, state);
  process.stdout.write(`${text}\n`);
}

/** Writes the files of `--csv` and `--pgn`. */
async function writeFiles({ folder, flags }: MatchRun): Promise<void> {
  const formats = (["csv", "pgn"] as const).filter((format) => flags[format] !== undefined);
  for (const format of formats) {
    const target = resolve(typeof flags[format] === "string" ? flags[format] : "league-report");
    const names = await withLeagues(folder.path, (leagues) => writeReports(target, [format], leagues));
    for (const name of names) say(join(target, name));
  }
}
