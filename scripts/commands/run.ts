import { join, resolve } from "node:path";
import { systemClock } from "#shared/lib/clock.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { loadConfig } from "#shared/runtime/config/config-file.ts";
import { DEFAULT_CONFIG } from "#shared/runtime/defaults.ts";
import { readingStore } from "#shared/runtime/files/store-file.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { checkFormat } from "#shared/store/sqlite.ts";
import { faultOfRun, withAbsolutePaths } from "../run/agents.ts";
import { createProgress, silentProgress, standingsTable } from "../run/progress.ts";
import { runLeagues } from "../run/run.ts";
import { beginRun, type RunFolder, resumeRun } from "../run/run-folder.ts";

interface RunFlags {
  readonly keep?: boolean;
  readonly json?: boolean;
  readonly seed?: string;
  readonly quiet?: boolean;
  readonly resume?: boolean;
}

/**
 * A config for a command: read, its paths made absolute; StartError (exit code 3) with one line per fault. `faultOf` may
 * find one more, which is told with its place too.
 */
export function readConfig(file: string, faultOf?: typeof faultOfRun): Config {
  const loaded = loadConfig(file, process.env);
  if (!loaded.ok) throw new StartError(loaded.error.join("\n"), EXIT.config);
  const config = withAbsolutePaths(loaded.value.config, loaded.value.folder);
  const fault = faultOf?.(config);
  if (fault) throw new StartError(`${loaded.value.nameOf(fault.path)}: ${fault.message}`, EXIT.config);
  return config;
}

/** A run whose database has the format of another version of this program cannot be resumed: StartError. */
async function expectOwnFormat({ path }: RunFolder): Promise<void> {
  const file = join(path, "league-manager.sqlite");
  await readingStore(file, () => checkFormat(file));
}

/** `league run`: exit code as `runLeagues` gives it. */
export async function run(configFile: string, flags: RunFlags): Promise<number> {
  const config = readConfig(configFile, faultOfRun);
  const progress = flags.quiet ? silentProgress : createProgress(process.stderr, systemClock);
  const warn = (line: string): void => (flags.quiet ? void process.stderr.write(`${line}\n`) : progress.line(line));
  const folder = flags.resume ? resumeRun(config.data, warn) : beginRun(config, flags.seed ?? null, systemClock);
  if (flags.resume) await expectOwnFormat(folder);
  if (flags.resume && !flags.quiet) progress.line(`going on with ${resolve(folder.path)}, by its own config and seed`);
  const begun = systemClock.monotonic();
  const exitCode = await runLeagues({
    folder,
    clock: systemClock,
    progress,
    warn,
    keep: flags.keep ?? false,
    onCompleted(document) {
      if (flags.json) {
        process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
        return;
      }
      const tables = document.leagues
        .filter(({ status }) => status === "completed")
        .map(({ league_id, game, standings }) => standingsTable(`${league_id} (${game})`, standings));
      process.stdout.write(`${tables.join("\n\n")}\n`);
      if (flags.quiet) return;
      const seconds = ((systemClock.monotonic() - begun) / 1000).toFixed(1);
      process.stderr.write(`\nplayed in ${seconds} s; logs and results are in ${resolve(folder.path)}\n`);
      if (flags.keep) process.stderr.write("Ctrl-C stops the league.\n");
    },
  });
  if (folder.isUnfinished() && !flags.quiet) {
    const named = configFile === DEFAULT_CONFIG ? "" : `${configFile} `;
    process.stderr.write(`not all is played; go on with: npm start -- ${named}--resume\n`);
  }
  return exitCode;
}
