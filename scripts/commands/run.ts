import { join, resolve } from "node:path";
import { systemClock } from "#shared/lib/clock.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { loadConfig } from "#shared/runtime/config/config-file.ts";
import { DEFAULT_CONFIG } from "#shared/runtime/defaults.ts";
import { readingStore } from "#shared/runtime/files/store-file.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { RUN_COMMAND } from "#shared/runtime/program.ts";
import { checkFormat } from "#shared/store/sqlite.ts";
import { isMatchRun } from "../match/terms-file.ts";
import { faultOfRun, withAbsolutePaths } from "../run/agents.ts";
import { changesFormat, type FormatFlags, withClock, withFormat } from "../run/config-overrides.ts";
import { llmLines, llmTotals } from "../run/llm-totals.ts";
import { createProgress, silentProgress } from "../run/progress.ts";
import { runLeagues } from "../run/run.ts";
import { beginRun, type RunFolder, resumeRun } from "../run/run-folder.ts";
import { crosstableText, standingsTable, withResult } from "../run/tables.ts";

interface RunFlags extends FormatFlags {
  readonly keep?: boolean;
  readonly json?: boolean;
  readonly crosstable?: boolean;
  readonly seed?: string;
  /** Replaces the clocks of all leagues of the config. */
  readonly clock?: TimeControl;
  readonly quiet?: boolean;
  readonly resume?: boolean;
}

/**
 * Reads a config and makes its paths absolute. Throws StartError with exit code 3 and one line for each fault. `faultOf` is a further check, whose fault
 * is reported with its place in the file. Returns the config, and a notice for each opening book with skipped openings.
 */
export async function readConfig(
  file: string,
  faultOf?: typeof faultOfRun,
): Promise<{ readonly config: Config; readonly notices: readonly string[] }> {
  const loaded = await loadConfig(file, process.env);
  if (!loaded.ok) throw new StartError(loaded.error.join("\n"), EXIT.config);
  const config = withAbsolutePaths(loaded.value.config, loaded.value.folder);
  const fault = faultOf?.(config, loaded.value.folder);
  if (fault) throw new StartError(`${loaded.value.nameOf(fault.path)}: ${fault.message}`, EXIT.config);
  return { config, notices: loaded.value.notices };
}

/** Checks the format of a run's database. Rejects with StartError if another version of this program wrote it. */
async function expectCurrentFormat({ path }: RunFolder): Promise<void> {
  const file = join(path, "league-manager.sqlite");
  await readingStore(file, () => checkFormat(file));
}

/** `league run`: plays or resumes the leagues of a config. Resolves with the exit code of `runLeagues`. Rejects with StartError if it cannot start. */
export async function run(configFile: string, flags: RunFlags): Promise<number> {
  if (flags.resume && (changesFormat(flags) || flags.clock !== undefined))
    throw new StartError(
      "a run that is continued keeps its format and clocks: omit --resume, or --clock and the options of the format",
      EXIT.usage,
    );
  const read = await readConfig(configFile, faultOfRun);
  const config = withFormat(withClock(read.config, flags.clock), flags);
  const progress = flags.quiet ? silentProgress : createProgress(process.stderr, systemClock);
  const warn = (line: string): void => (flags.quiet ? void process.stderr.write(`${line}\n`) : progress.line(line));
  const folder = flags.resume
    ? await resumeRun(config.data, warn, (path) => !isMatchRun(path))
    : beginRun(config, flags.seed ?? null, systemClock);
  if (flags.resume) await expectCurrentFormat(folder);
  if (flags.resume && !flags.quiet) progress.line(`continuing ${resolve(folder.path)} with its config and seed`);
  const startedAtMs = systemClock.monotonic();
  const exitCode = await runLeagues({
    folder,
    clock: systemClock,
    progress,
    warn,
    keep: flags.keep ?? false,
    onCompleted(document) {
      if (flags.json) {
        const llm = llmTotals(folder.path);
        process.stdout.write(`${JSON.stringify({ ...document, ...(llm.length > 0 && { llm }) }, null, 2)}\n`);
        return;
      }
      const tables = document.leagues
        .filter(({ status }) => status === "completed")
        .flatMap((league) => {
          const title = `${league.league_id} (${league.game})`;
          const tables = [
            ...(league.teams ? [standingsTable(`${title}: teams`, league.teams)] : []),
            withResult(standingsTable(title, league.standings, league.ratings), league.result),
          ];
          return flags.crosstable ? [...tables, crosstableText(`${title}: crosstable`, league)] : tables;
        });
      process.stdout.write(`${tables.join("\n\n")}\n`);
      if (flags.quiet) return;
      const lines = llmLines(folder.path);
      if (lines.length > 0) process.stderr.write(`\n${lines.join("\n")}\n`);
      const seconds = ((systemClock.monotonic() - startedAtMs) / 1000).toFixed(1);
      process.stderr.write(`\nplayed in ${seconds} s; logs and results are in ${resolve(folder.path)}\n`);
      if (flags.keep) process.stderr.write("Ctrl-C stops the league.\n");
    },
  });
  // A run that is continued has the openings of its begin.
  if (!flags.resume) for (const notice of read.notices) process.stderr.write(`${notice}\n`);
  if (folder.isUnfinished() && !flags.quiet) {
    const configArgument = configFile === DEFAULT_CONFIG ? "" : `${configFile} `;
    process.stderr.write(`the run is not complete; continue it with: ${RUN_COMMAND} ${configArgument}--resume\n`);
  }
  return exitCode;
}
