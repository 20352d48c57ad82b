import { readFileSync, statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import type { StartError } from "#shared/runtime/process/exit.ts";
import { VERSION } from "#shared/runtime/program.ts";
import type { BotObject, MatchInfo } from "./sdk.ts";

/** The reason why a bot has chosen no action, for the referee. The bot has already written its line about it. */
export class LoggedFault extends Error {}

/** The player in whose process a bot is loaded. */
export interface BotHome {
  /** Returns the folder of the bot's records. It is named after the player, whose name is known when a match begins. */
  recordsFolder(): string;
  /** Logs a line, and shows it to the person at the terminal, unless the player runs under a parent process. */
  say(line: string): void;
  /** Logs a line, and always shows it to the person at the terminal. */
  warn(line: string): void;
  /** Ends the command with the exit code of the error, because the bot cannot play. Called at most once, after the bot is loaded. */
  fail(error: StartError): void;
  /** What the code of a bot file may use. */
  readonly allow: BotPermissions;
  /** The address at which the process of a bot file waits for a debugger; null for none. */
  readonly inspect: string | null;
  /** The maximum number of processes of a bot file (default: 8). */
  readonly maxProcesses?: number;
}

/** The object that plays one match. */
export interface MatchBot extends BotObject {
  /** The player accepts the invitation when the promise has resolved. `waitMs` is the time that it has for this, if the invitation says it. */
  start?(info: MatchInfo, waitMs?: number): void | Promise<void>;
  /** Called instead of `end` if the match is dropped without a result. */
  close?(): void;
}

/** A bot that is ready to play. */
export interface LoadedBot {
  readonly name: string;
  /** Identifies the version of the bot (`hashOfFiles`). Undefined for a person, or if a file of the bot cannot be read. */
  readonly hash?: string | undefined;
  /** The ids of the games that it plays; absent if it plays all games, also those that this process does not know. */
  readonly games?: readonly string[];
  /** Creates the object that plays one match. `log` writes a line to the terminal and the log of the match. */
  create(log: (line: string) => void): MatchBot;
  /** Releases the resources of the bot, such as the process of an engine. */
  close?(): Promise<void>;
  /** Whether the bot may read `turn.history`. Built-in bots do not, so their players need not keep every view of a match in memory. */
  readonly readsHistory: boolean;
  /** `false` if the bot does not read `turn.legal`. Matches in the process of the player then do not list the legal actions of each turn. */
  readonly readsLegalActions?: false;
}

/**
 * Returns the hash that identifies a version of a bot: the SHA-256 of its file, or of the lines `hash  path` of its files, as `sha256sum` prints them,
 * with the paths from the folder, sorted. Undefined without files, or if a file cannot be read.
 */
export function hashOfFiles(folder: string, files: Iterable<string>): string | undefined {
  const paths = [...new Set(files)].map((file) => relative(folder, file).split(sep).join("/")).sort();
  try {
    const hashes = paths.map((path) => sha256Hex(readFileSync(resolve(folder, path))));
    if (hashes.length <= 1) return hashes[0];
    return sha256Hex(hashes.map((hash, i) => `${hash}  ${paths[i]}\n`).join(""));
  } catch {
    return undefined;
  }
}

/** Returns the hash of the files of a bot file: itself, and those that it imports from its folder. Packages do not count. */
export function hashOfImports(file: string, imported: readonly string[]): string | undefined {
  const folder = dirname(file);
  const isOwn = (path: string): boolean => path.startsWith(folder + sep) && !path.split(sep).includes("node_modules");
  return hashOfFiles(folder, [file, ...imported.filter(isOwn)]);
}

/**
 * Returns the hash of a command: the SHA-256 of its words, in which the hash of a file stands for its name. So the options of a program are part of its version,
 * and the place of its files is not.
 */
export function hashOfCommand(command: string, folder: string): string {
  const words = command
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
  const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  const contents = words.map((word) => {
    const path = resolve(folder, word);
    return (isFile(path) && hashOfFiles(folder, [path])) || word;
  });
  return sha256Hex(contents.join(" "));
}

/**
 * Returns the hash of a built-in bot. It depends on the name of the bot and the version of the program. A built-in bot uses code of many folders, so the hash of
 * its file alone does not identify a version.
 */
export const hashOfBuiltIn = (name: string): string => sha256Hex(`built-in bot ${name} ${VERSION}`);
