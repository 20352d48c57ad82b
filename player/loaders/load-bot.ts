import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { BUILT_IN_BOTS, builtInBots } from "#shared/games/built-in-bots.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { endingOf } from "#shared/lib/module-file.ts";
import { didYouMean } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { formOf } from "../bot-process/bot-object.ts";
import { UCI_PREFIX, uciBot } from "../engines/uci-bot.ts";
import { isolatedBot } from "../isolation/isolated-bot.ts";
import { LLM_FORMS, LLM_PREFIX, llmBot } from "../llm/llm-bot.ts";
import { type BotHome, hashOfBuiltIn, type LoadedBot } from "../loaded-bot.ts";
import { BOT_FILES, isBotFile, isProgramFile, programIn } from "./bot-files.ts";
import { LINES_PREFIX, linesBot, programBot } from "./lines.ts";

const botsFolder = fileURLToPath(new URL("../bots/", import.meta.url));

/**
 * Loads a bot. `spec` is the name of a built-in bot, the path of a file (bot-files.ts), `uci:COMMAND`, `lines:COMMAND` or `llm:URL#MODEL`.
 * Throws StartError (exit code 3) if there is no such bot, or, with file and line, if the file does not load.
 */
export async function loadBot(spec: string, clock: Clock, home: BotHome): Promise<LoadedBot> {
  if (spec.startsWith(UCI_PREFIX)) return uciBot(spec, clock);
  if (spec.startsWith(LINES_PREFIX)) return linesBot(spec, clock, home);
  if (spec.startsWith(LLM_PREFIX)) return llmBot(spec, clock, home);
  if (builtInBots.includes(spec)) return builtInBot(spec);
  const file = resolve(spec);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    const example = join(spec, "bot.ts");
    throw new StartError(`${spec} is a folder: name the file of the bot in it, e.g. ${example}`, EXIT.config);
  }
  if (!isBotFile(spec)) {
    const known = `${builtInBots.join(", ")}, ${BOT_FILES}, uci:COMMAND, lines:COMMAND, ${LLM_FORMS}`;
    throw new StartError(`no bot "${spec}"${didYouMean(spec, builtInBots) || `: give ${known}`}`, EXIT.config);
  }
  if (!existsSync(isProgramFile(spec) ? programIn(file).program : file))
    throw new StartError(`${spec}: no such file`, EXIT.config);
  return isProgramFile(spec) ? programBot(spec, clock, home) : isolatedBot(file, spec, clock, home);
}

/** Built-in bots are part of this project, so their code runs in the process of the player. */
async function builtInBot(name: string): Promise<LoadedBot> {
  const file = pathToFileURL(resolve(botsFolder, `${name}${endingOf(import.meta.url)}`));
  const form = formOf(((await import(file.href)) as { default?: unknown }).default);
  if (typeof form === "string") throw new Error(`${name}: ${form}`);
  const games = BUILT_IN_BOTS[name]?.games;
  return { name, hash: hashOfBuiltIn(name), ...(games && { games }), readsHistory: false, create: () => form.create() };
}
