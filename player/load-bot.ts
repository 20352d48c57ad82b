import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { EXIT, StartError } from "#shared/runtime/exit.ts";
import { uciBot } from "./bots/uci.ts";
import type { LoadedBot } from "./loaded-bot.ts";
import type { BotObject } from "./sdk.ts";

const botsFolder = fileURLToPath(new URL("./bots/", import.meta.url));

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
export async function loadBot(spec: string): Promise<LoadedBot> {
  if (spec.startsWith("uci:")) return uciBot(spec.slice(4));
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
    exported = ((await import(pathToFileURL(path).href)) as { default?: unknown }).default;
  } catch (thrown) {
    throw new StartError(`${name} does not load: ${whereThrown(thrown, path)}`, EXIT.config);
  }
  return { name, file, looksBack: file !== null, create: creatorOf(exported, name) };
}

/** The three forms of a bot (sdk.ts) as one: a function that makes the object of a match. */
function creatorOf(exported: unknown, name: string): () => BotObject {
  if (isBotObject(exported)) return () => exported;
  if (typeof exported === "function") {
    const made: unknown = exported.length === 0 ? exported() : null;
    if (isBotObject(made)) return exported as () => BotObject;
    return () => ({ choose: exported as BotObject["choose"] });
  }
  const forms = "a function from a turn to an action, or an object with choose";
  throw new StartError(`${name}: its default export must be ${forms}`, EXIT.config);
}

const isBotObject = (value: unknown): value is BotObject =>
  typeof value === "object" && value !== null && typeof (value as BotObject).choose === "function";

/** `file:line:column: message` of what a bot threw; for syntax errors the place is in the stack's head. */
export function whereThrown(thrown: unknown, file: string): string {
  if (!(thrown instanceof Error)) return `${file}: threw ${String(thrown)}`;
  const stack = stripVTControlCharacters(thrown.stack ?? "");
  const escaped = file.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const place = new RegExp(`${escaped}:(\\d+)(?::(\\d+))?`).exec(stack);
  const at = place ? `${file}:${place[1]}${place[2] ? `:${place[2]}` : ""}` : file;
  return `${at}: ${thrown.name}: ${thrown.message.split("\n", 1)[0]}`;
}
