import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { findFormat } from "#shared/formats/registry.ts";
import { teamIdOf } from "#shared/formats/teams.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { playerId, systemIds } from "#shared/lib/ids.ts";
import { LEAGUE_COMMAND } from "#shared/runtime/cli/league-command.ts";
import { DATA_FOLDER } from "#shared/runtime/defaults.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import type { SprtOptions } from "#shared/statistics/sprt.ts";
import { withLeagues } from "../archive/reports/report-run.ts";
import { writeReports } from "../archive/reports/write-reports.ts";
import { namesOf } from "../games/bots-of-command.ts";
import { matchDocument } from "../match/document.ts";
import { durationText } from "../match/live-line.ts";
import { type Ended, playLocally } from "../match/local/play-locally.ts";
import { reportText } from "../match/report.ts";
import { type MatchState, type MatchTerms, matchState } from "../match/result.ts";
import { LEAGUE_ID, pairCount, type SetupFlags, setupOf } from "../match/setup.ts";
import { storedLeague } from "../match/stored-league.ts";
import type { MatchSystem } from "../match/system.ts";
import { isMatchRun, readTerms, type Terms, writeTerms } from "../match/terms-file.ts";
import { createProgress, silentProgress } from "../run/progress.ts";
import { runLeagues } from "../run/run.ts";
import { beginRun, type RunFolder, resumeRun } from "../run/run-folder.ts";

export interface MatchFlags extends SetupFlags {
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

/** `league match`: plays games between bots and prints how strong they are. Resolves with the exit code: 0, 1 after a failure, 130 after Ctrl-C. */
export async function match(bots: readonly string[], flags: MatchFlags): Promise<number> {
  const { folder, terms } = flags.resume ? await resumed(bots, flags) : await begun(bots, flags);
  const run = { folder, terms, flags, matchTerms: matchTermsOf(folder, terms) };
  const startedAt = systemClock.monotonic();
  const ended =
    terms.mode === "local"
      ? await playLocally({ system: SYSTEM, folder, terms, matchTerms: run.matchTerms, isQuiet: flags.quiet ?? false })
      : await playOverWire(run);
  await report(run, ended);
  if (!flags.quiet) {
    const seconds = (systemClock.monotonic() - startedAt) / 1000;
    const logs = join(folder.path, "logs");
    if (existsSync(logs)) say(`what the bots have written, with their errors, is in ${resolve(logs)}`);
    say(`played in ${durationText(seconds)}; logs and results are in ${resolve(folder.path)}`);
  }
  if (folder.isUnfinished())
    say(`the match is not complete; continue it with: ${LEAGUE_COMMAND} match --resume${dataFlag(flags)}`);
  return ended.exitCode;
}

const dataFlag = ({ data }: MatchFlags): string => (data === DATA_FOLDER ? "" : ` --data ${data}`);

async function begun(bots: readonly string[], flags: MatchFlags) {
  // The command line alone determines the match. The manager would apply the variables to its config.
  for (const name of Object.keys(process.env)) if (name.startsWith("LEAGUE__")) delete process.env[name];
  const { config, seed, terms, wireReason } = await setupOf(bots, flags, SYSTEM);
  if (wireReason !== null && !flags.quiet) say(`${wireReason}: the games are played over HTTP, as with --wire`);
  const folder = beginRun(config, seed, systemClock);
  writeTerms(folder.path, terms);
  return { folder, terms };
}

async function resumed(bots: readonly string[], flags: MatchFlags) {
  if (bots.length > 0) throw new StartError("--resume continues with the bots of the match: omit the bots", EXIT.usage);
  const folder = await resumeRun(flags.data, say, isMatchRun);
  const terms = readTerms(folder.path);
  if (!flags.quiet) say(`continuing ${resolve(folder.path)}: ${terms.bots.join(", ")}`);
  return { folder, terms: { ...terms, concurrency: flags.concurrency ?? terms.concurrency } };
}

function matchTermsOf({ config }: RunFolder, { bots }: Terms): MatchTerms {
  const [league] = config.leagues;
  const names = namesOf(bots);
  const players = bots.map((bot, index) => ({
    playerId: league?.teams ? teamIdOf(index) : playerId(index + 1),
    name: names[index] ?? bot,
    bot,
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

/** Plays the games as a league of processes. */
async function playOverWire({ folder, flags }: MatchRun): Promise<Ended> {
  const progress = flags.quiet ? silentProgress : createProgress(process.stderr, systemClock);
  const exitCode = await runLeagues({
    folder,
    clock: systemClock,
    progress,
    warn: (line) => (flags.quiet ? say(line) : progress.line(line)),
    keep: false,
    onCompleted: () => {},
  });
  return { league: storedLeague(folder.path, LEAGUE_ID), exitCode };
}

const gamesText = ({ games: { completed, total }, test }: MatchState): string =>
  test ? `${completed} games, at most ${total}` : `${completed} of ${total} games`;

/** Prints the result on stdout, also the partial one of an interrupted match, and writes the reports. */
async function report({ folder, terms, flags, matchTerms }: MatchRun, { league, exitCode }: Ended): Promise<void> {
  if (league === null) return;
  const state = matchState(league, matchTerms);
  const { game, options } = league;
  const { seed } = folder;
  const status = exitCode === EXIT.ok ? "completed" : "interrupted";
  const text = flags.json
    ? JSON.stringify(matchDocument(state, { game, options, seed, mode: terms.mode, status }), null, 2)
    : reportText(`${game}, ${gamesText(state)}, seed ${seed}`, state);
  process.stdout.write(`${text}\n`);
  const formats = (["csv", "pgn"] as const).filter((format) => flags[format] !== undefined);
  for (const format of formats) {
    const target = resolve(typeof flags[format] === "string" ? flags[format] : "league-report");
    const names = await withLeagues(folder.path, (leagues) => writeReports(target, [format], leagues));
    for (const name of names) say(join(target, name));
  }
}
