import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import type { BuildFailure, Message } from "esbuild";
import { systemClock } from "#shared/lib/clock.ts";
import { type PermissionFlags, permissionArgs, permissionsOf } from "#shared/runtime/command-options.ts";
import { isGameFile } from "#shared/runtime/game-files.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { importedFiles } from "../../player/isolation/permissions.ts";
import { BOT_FILES, isBotFile, isModuleFile, programIn } from "../../player/loaders/bot-files.ts";
import { botIn } from "./named-bots.ts";

interface DevFlags extends PermissionFlags {
  readonly game?: string;
  readonly option?: readonly string[];
  readonly seed: string;
  readonly verbose?: boolean;
}

/** An editor writes a file in several steps. The match begins when the file has not changed for this time. */
const QUIET_MS = 100;

/** `league dev BOT OPPONENT`: runs `league play` each time the bot, or the file of its game, is saved. Resolves with the exit code after a signal. */
export async function dev(text: string, opponent: string, flags: DevFlags): Promise<number> {
  const bot = botIn(text);
  if (!isBotFile(bot)) throw new StartError(`${bot} is not the file of a bot: give ${BOT_FILES}`, EXIT.usage);
  const file = resolve(programIn(bot).program);
  if (!existsSync(file)) throw new StartError(`${bot}: no such file`, EXIT.config);
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stopping.abort());
  const sources = [file, ...(flags.game !== undefined && isGameFile(flags.game) ? [resolve(flags.game)] : [])];
  // The folders that `league play` keeps of aborted matches.
  const temporary = mkdtempSync(join(tmpdir(), "league-dev-"));
  let files: readonly string[] = sources;
  try {
    while (!stopping.signal.aborted) {
      const former = files;
      files = [...new Set((await Promise.all(sources.map((source) => filesOf(source, former)))).flat())];
      // The files are watched before the match reads them, so that no save is missed.
      const saved = nextSave(files, stopping.signal);
      const match = startMatch(text, opponent, flags, temporary);
      const first = await Promise.race([match.ended, saved]);
      if (first === EXIT.usage) return first;
      if (typeof first === "number") write(`waiting for a change of ${namesOf(files, dirname(file))}; Ctrl-C ends`);
      else match.stop();
      await match.ended;
      const name = await saved;
      if (name !== null) write(`\n${relative(dirname(file), name)} was saved`);
    }
    return EXIT.interrupted;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

const write = (line: string): void => void process.stderr.write(`${line}\n`);

const namesOf = (files: readonly string[], folder: string): string =>
  files.map((file) => relative(folder, file)).join(", ");

/** Starts `league play` with the seed. A separate process, because Node.js reads a changed module only in a new process. */
function startMatch(bot: string, opponent: string, flags: DevFlags, temporary: string) {
  const { game, option, seed, verbose } = flags;
  const [, script = ""] = process.argv;
  const options = option === undefined ? [] : ["--option", ...option];
  const args = [
    "play",
    bot,
    opponent,
    ...(game === undefined ? [] : ["--game", game]),
    "--seed",
    seed,
    ...(verbose ? ["--verbose"] : []),
    ...permissionArgs(permissionsOf(flags)),
    ...options,
  ];
  const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, TMPDIR: temporary },
  });
  const ended = once(child, "exit").then(([code]) => Number(code));
  return { ended, stop: () => void child.kill("SIGTERM") };
}

/**
 * Resolves with the path of the first file that is saved, or with null when the command stops. Watches folders, because many editors save a file by
 * replacing it.
 */
function nextSave(files: readonly string[], signal: AbortSignal): Promise<string | null> {
  const { promise, resolve: settle } = Promise.withResolvers<string | null>();
  const closing = new AbortController();
  let cancel = (): void => {};
  for (const folder of new Set(files.map((file) => dirname(file)))) {
    const watcher = watch(folder, { signal: closing.signal }, (_event, name) => {
      const path = join(folder, name ?? "");
      if (!files.includes(path)) return;
      cancel();
      cancel = systemClock.after(QUIET_MS, () => settle(path));
    });
    watcher.on("error", () => settle(folder)); // the folder was removed
  }
  signal.addEventListener("abort", () => settle(null), { signal: closing.signal });
  return promise.finally(() => {
    cancel();
    closing.abort();
  });
}

/** Returns the file of a bot or a game and the files that it imports. `former` are those before a change that does not compile. */
async function filesOf(file: string, former: readonly string[]): Promise<readonly string[]> {
  const folder = dirname(file);
  if (!isModuleFile(file)) {
    const ending = extname(file);
    const isSource = (name: string): boolean => ending !== "" && extname(name) === ending;
    return [
      file,
      ...readdirSync(folder)
        .filter((name) => isSource(name) && name !== basename(file))
        .map((name) => join(folder, name)),
    ];
  }
  try {
    return (await importedFiles(file)).filter((path) => !path.includes("node_modules"));
  } catch (thrown) {
    const faulty = (thrown as BuildFailure).errors?.flatMap((error) => filesOfError(error, folder));
    return [...new Set([...former, ...(faulty ?? [])])];
  }
}

/** Returns the file with an error, and the missing file that it imports. */
function filesOfError({ location, text }: Message, folder: string): readonly string[] {
  if (location === null) return [];
  const file = resolve(folder, location.file);
  const [, missing] = /^Could not resolve "(\.[^"]+)"/.exec(text) ?? [];
  return missing === undefined ? [file] : [file, resolve(dirname(file), missing)];
}
