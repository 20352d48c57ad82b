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
import { watchingLoad } from "./slow-load.ts";

const botsFolder = fileURLToPath(new URL("../bots/", import.meta.url));

/** The names of the built-in bots: one file each in `player/bots`. */
export const builtInBots: readonly string[] = readdirSync(botsFolder)
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && file !== "uci.ts")
  .map((file) => file.slice(0, -3))
  .sort();

/** Whether a bot is meant as a file of one's own. */
export const isBotFile = (spec: string): boolean => /\.[cm]?[jt]s$/.test(spec);

/**
 * Loads a bot by its built-in name, from a `.ts` or `.js` file, or `uci:COMMAND`.
 * StartError (exit code 3) when there is none, or with file and line when the file does not load.
 */
export async function loadBot(spec: string, clock: Clock): Promise<LoadedBot> {
  if (spec.startsWith("uci:")) return uciBot(spec.slice(4), clock);
  if (builtInBots.includes(spec)) return fromFile(resolve(botsFolder, `${spec}.ts`), spec, null);
  if (!isBotFile(spec)) {
    throw new StartError(
      `no bot "${spec}": give ${builtInBots.join(", ")}, a .ts or .js file, or uci:COMMAND`,
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
  return { name, file, looksBack: file !== null, create: creatorOf(exported, name) };
}

/** The forms of a bot (sdk.ts) as one: a function that makes the object of a match. */
function creatorOf(exported: unknown, name: string): () => BotObject {
  if (isBotObject(exported)) return () => exported;
  const wrong = (what: string): StartError => new StartError(`${name}: ${what}`, EXIT.config);
  if (typeof exported !== "function") {
    throw wrong("its default export must be a function from a turn to an action, or an object with choose");
  }
  if (isClass(exported)) {
    if (!isBotObject(made(() => new exported()))) throw wrong("its default export is a class without a method choose");
    return () => new exported();
  }
  const object: unknown = exported.length === 0 ? made(() => exported()) : null;
  if (isBotObject(object)) return exported as () => BotObject;
  if (hasMethods(object)) throw wrong("what its default export makes has methods, but no choose");
  return () => ({ choose: exported as BotObject["choose"] });
}

/** What a bot's maker makes; one that throws will do so in a match, and is told there. */
function made(make: () => unknown): unknown {
  try {
    return make();
  } catch {
    return null;
  }
}

const isClass = (exported: object): exported is new () => BotObject => /^class\b/.test(String(exported));

const hasMethods = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.values(value).some((one) => typeof one === "function");

const isBotObject = (value: unknown): value is BotObject =>
  typeof value === "object" && value !== null && typeof (value as BotObject).choose === "function";

/** `file:line:column: message` of what a bot threw; for syntax errors the place is in the stack's head. */
export function whereThrown(thrown: unknown, file: string): string {
  if (!(thrown instanceof Error)) return `${file}: threw ${String(thrown)}`;
  const stack = stripVTControlCharacters(thrown.stack ?? "");
  const place = placeIn(stack, file) ?? (thrown instanceof SyntaxError ? placeIn(checked(file), file) : null);
  return `${file}${place ?? ""}: ${thrown.name}: ${thrown.message.split("\n", 1)[0]}`;
}

/** `:line` or `:line:column` where a text names a file. */
function placeIn(text: string, file: string): string | null {
  const escaped = file.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`${escaped}(:\\d+(?::\\d+)?)`).exec(text)?.[1] ?? null;
}

/** What Node says of a file's syntax: an error of its own loader does not know the line. */
const checked = (file: string): string => spawnSync(process.execPath, ["--check", file], { encoding: "utf8" }).stderr;
