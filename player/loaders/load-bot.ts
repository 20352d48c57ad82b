import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import type { Clock } from "#shared/lib/clock.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { uciBot } from "../bots/uci.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { BotObject } from "../sdk.ts";
import { LINES_PREFIX, linesBot } from "./lines.ts";
import { watchingLoad } from "./slow-load.ts";

const botsFolder = fileURLToPath(new URL("../bots/", import.meta.url));

/** The names of the built-in bots. Each is a file in `player/bots`. */
export const builtInBots: readonly string[] = readdirSync(botsFolder)
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && file !== "uci.ts")
  .map((file) => file.slice(0, -3))
  .sort();

/** Whether the text that selects a bot is the path of a file. */
export const isBotFile = (spec: string): boolean => /\.[cm]?[jt]s$/.test(spec);

/**
 * Loads a bot. `spec` is the name of a built-in bot, a `.ts` or `.js` file, `uci:COMMAND` or `lines:COMMAND`.
 * Throws StartError (exit code 3) if there is no such bot, or, with file and line, if the file does not load.
 */
export async function loadBot(spec: string, clock: Clock): Promise<LoadedBot> {
  if (spec.startsWith("uci:")) return uciBot(spec.slice(4), clock);
  if (spec.startsWith(LINES_PREFIX)) return linesBot(spec, clock);
  if (builtInBots.includes(spec)) return fromFile(resolve(botsFolder, `${spec}.ts`), spec, null);
  if (!isBotFile(spec)) {
    throw new StartError(
      `no bot "${spec}": give ${builtInBots.join(", ")}, a .ts or .js file, uci:COMMAND or lines:COMMAND`,
      EXIT.config,
    );
  }
  const file = resolve(spec);
  if (!existsSync(file)) throw new StartError(`${spec}: no such file`, EXIT.config);
  return fromFile(file, spec, file);
}

async function fromFile(path: string, name: string, file: string | null): Promise<LoadedBot> {
  let exported: unknown;
  try {
    const load = (): Promise<{ default?: unknown }> => import(pathToFileURL(path).href);
    exported = (await (file === null ? load() : watchingLoad(name, load))).default;
  } catch (thrown) {
    throw new StartError(`${name} does not load: ${whereThrown(thrown, path)}`, EXIT.config);
  }
  return { name, file, readsHistory: file !== null, create: creatorOf(exported, name) };
}

/** Returns a function that creates the object of a match, for each form of a bot (sdk.ts). Throws StartError for other exports. */
function creatorOf(exported: unknown, name: string): () => BotObject {
  if (isBotObject(exported)) return () => exported;
  const invalid = (fault: string): StartError => new StartError(`${name}: ${fault}`, EXIT.config);
  if (typeof exported !== "function") {
    throw invalid("its default export must be a function from a turn to an action, or an object with choose");
  }
  if (isClass(exported)) {
    if (!isBotObject(resultOf(() => new exported())))
      throw invalid("its default export is a class without a method choose");
    return () => new exported();
  }
  const object: unknown = exported.length === 0 ? resultOf(() => exported()) : null;
  if (isBotObject(object)) return exported as () => BotObject;
  if (hasMethods(object)) throw invalid("its default export returns an object with methods, but without choose");
  return () => ({ choose: exported as BotObject["choose"] });
}

/** Returns the result of the exported function, or null if it throws: an error of the bot is reported in its first match. */
function resultOf(make: () => unknown): unknown {
  try {
    return make();
  } catch {
    return null;
  }
}

const isClass = (exported: object): exported is new () => BotObject => /^class\b/.test(String(exported));

const hasMethods = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.values(value).some((member) => typeof member === "function");

const isBotObject = (value: unknown): value is BotObject =>
  typeof value === "object" && value !== null && typeof (value as BotObject).choose === "function";

/** The text `file:line:column: name: message` for a value that a bot threw. The position is omitted if it is not known. */
export function whereThrown(thrown: unknown, file: string): string {
  if (!(thrown instanceof Error)) return `${file}: threw ${String(thrown)}`;
  const stack = stripVTControlCharacters(thrown.stack ?? "");
  const position =
    positionIn(stack, file) ?? (thrown instanceof SyntaxError ? positionIn(syntaxCheck(file), file) : null);
  return `${file}${position ?? ""}: ${thrown.name}: ${thrown.message.split("\n", 1)[0]}`;
}

/** The `:line` or `:line:column` that follows the first mention of a file in a text. */
function positionIn(text: string, file: string): string | null {
  const escaped = file.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`${escaped}(:\\d+(?::\\d+)?)`).exec(text)?.[1] ?? null;
}

/** The output of `node --check`. The syntax errors of the module loader do not contain the line. */
const syntaxCheck = (file: string): string =>
  spawnSync(process.execPath, ["--check", file], { encoding: "utf8" }).stderr;
