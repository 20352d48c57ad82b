import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Clock } from "#shared/lib/clock.ts";
import { whereThrown } from "#shared/runtime/files/thrown-position.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { uciBot } from "../bots/uci.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { BotObject } from "../sdk.ts";
import { BOT_FILES, isBotFile, isProgramFile } from "./bot-files.ts";
import { LINES_PREFIX, linesBot } from "./lines.ts";
import { type BotHome, LLM_FORMS, LLM_PREFIX, llmBot } from "./llm.ts";
import { programBot } from "./program-file.ts";
import { watchingLoad } from "./slow-load.ts";

const botsFolder = fileURLToPath(new URL("../bots/", import.meta.url));

/** The names of the built-in bots. Each is a file in `player/bots`. */
export const builtInBots: readonly string[] = readdirSync(botsFolder)
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && file !== "uci.ts")
  .map((file) => file.slice(0, -3))
  .sort();

/**
 * Loads a bot. `spec` is the name of a built-in bot, the path of a file (bot-files.ts), `uci:COMMAND`, `lines:COMMAND` or `llm:URL#MODEL`.
 * `home` is needed for a language model only. Throws StartError (exit code 3) if there is no such bot, or, with file and line, if the file does not load.
 */
export async function loadBot(spec: string, clock: Clock, home: BotHome | null = null): Promise<LoadedBot> {
  if (spec.startsWith("uci:")) return uciBot(spec.slice(4), clock);
  if (spec.startsWith(LINES_PREFIX)) return linesBot(spec, clock);
  if (spec.startsWith(LLM_PREFIX) && home !== null) return llmBot(spec, clock, home);
  if (builtInBots.includes(spec)) return fromFile(resolve(botsFolder, `${spec}.ts`), spec, null);
  if (!isBotFile(spec)) {
    throw new StartError(
      `no bot "${spec}": give ${builtInBots.join(", ")}, ${BOT_FILES}, uci:COMMAND, lines:COMMAND, ${LLM_FORMS}`,
      EXIT.config,
    );
  }
  const file = resolve(spec);
  if (!existsSync(file)) throw new StartError(`${spec}: no such file`, EXIT.config);
  return isProgramFile(spec) ? programBot(spec, clock) : fromFile(file, spec, file);
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
