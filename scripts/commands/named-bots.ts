import { resolve, sep } from "node:path";
import { BUILT_IN_BOTS } from "#shared/games/built-in-bots.ts";
import type { Game } from "#shared/games/game.ts";
import { findGameNamed, type GameId } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { cutTo, inOneLine } from "#shared/lib/text.ts";
import type { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { UCI_GAMES } from "../../player/engines/uci-bot.ts";
import { LLM_PREFIX } from "../../player/llm/llm-bot.ts";
import { isBotFile, isModuleFile, programIn } from "../../player/loaders/bot-files.ts";
import { loadBot } from "../../player/loaders/load-bot.ts";
import { namedGame } from "./named-game.ts";

/** A bot of a command line, with the name that is shown. */
interface NamedBot {
  readonly name: string;
  /** What selects the bot, without the name. */
  readonly bot: string;
}

/** `NAME=BOT`. A name has no colon or slash, so that `=` in a URL, in a path that begins with `./` or in a command is not taken for the end of a name. */
const NAMED = /^([\p{L}\p{N}_][\p{L}\p{N} ._-]*)=(.+)$/u;

/** Returns what selects the bot of `BOT` or `NAME=BOT`. */
export const botIn = (text: string): string => NAMED.exec(text)?.[2] ?? text;

/**
 * Returns the bots of a command line, `BOT` or `NAME=BOT`, with different names. Without a name, the file `my-bot/bot.ts` is `my-bot`, and any other file
 * has the name of the file. Equal names of different files get more of their paths, and other equal names a number. Throws StartError if a name is
 * given twice or is not valid.
 */
export function namedBots(texts: readonly string[]): readonly NamedBot[] {
  const given = texts.map((text) => NAMED.exec(text)?.[1]?.trim());
  for (const [index, name] of given.entries()) {
    if (name === undefined) continue;
    const wrong = (fault: string) => new StartError(`${texts[index]}: ${fault}`, EXIT.usage);
    if (name.length > NAME_CHARACTERS) throw wrong(`a name has at most ${NAME_CHARACTERS} characters`);
    if (given.indexOf(name) !== index) throw wrong(`another bot has the name ${name}; choose a different one`);
  }
  const names = (detail: number): readonly string[] => texts.map((text, index) => given[index] ?? nameOf(text, detail));
  const distinct = DETAILS.map(names).find((one) => new Set(one).size === one.length);
  const shown = distinct ?? numbered(names(0));
  return texts.map((text, index) => ({ name: shown[index] ?? text, bot: botIn(text) }));
}

/** The maximum length of a bot's name. A player's name has at most 100 characters, and a number may follow. */
const NAME_CHARACTERS = 90;

/** A file with one of these names is named after its folder. `new-bot` writes `bot`. */
const NAMED_AFTER_FOLDER = /^(?:bot|index|main)(?:\.\w+)?$/;
/** The levels of detail of the name of a file, from the shortest. */
const DETAILS = [0, 1, 2, 3] as const;

/** Returns the display name of a bot: that of its file, the model, or the name of a built-in bot. */
function nameOf(bot: string, detail: number): string {
  const name = isBotFile(bot) ? fileName(programIn(bot).program, detail) : bot.replace(/^llm:http[^#]*#/, LLM_PREFIX);
  return inOneLine(cutTo(NAME_CHARACTERS, name));
}

/** The name of a file. More detail adds the file to the name of its folder, and then the folder above. */
function fileName(file: string, detail: number): string {
  const [base = "", folder = "", above = ""] = resolve(file).split(sep).toReversed();
  const isFolder = NAMED_AFTER_FOLDER.test(base) && folder !== "";
  const forms = isFolder
    ? [[folder], [folder, base], [above, folder], [above, folder, base]]
    : [[base], [folder, base], [above, folder, base]];
  return (forms[detail] ?? forms.at(-1) ?? []).filter((part) => part !== "").join("/");
}

/** Adds the number of the bot to each name that occurs twice. */
const numbered = (names: readonly string[]): readonly string[] =>
  names.map((name, index) => (names.indexOf(name) === names.lastIndexOf(name) ? name : `${name} ${index + 1}`));

/** The game of bots that name no game. */
const DEFAULT_GAME: GameId = "rps.v1";

/**
 * Returns the game of a command: that of `--game`, or the first one that a bot names. `named` is its id, its name or its file. Throws StartError if a bot
 * does not load or play it.
 */
export async function gameOf(
  bots: readonly string[],
  flag: string | undefined,
  allow: BotPermissions,
  clock: Clock,
): Promise<{ readonly game: Game; readonly named: string }> {
  const limits = await Promise.all(
    [...new Set(bots)].map(async (bot) => ({ bot, games: await gamesOf(bot, allow, clock) })),
  );
  const named = flag ?? limits.flatMap(({ games }) => games ?? [])[0] ?? DEFAULT_GAME;
  const game = await namedGame(named);
  const plays = (id: string): boolean => (findGameNamed(id)?.id ?? id) === game.id;
  const unable = limits.find(({ games }) => games !== null && !games.some(plays));
  if (unable === undefined) return { game, named };
  throw new StartError(`${unable.bot} does not play ${game.id}; it plays ${unable.games?.join(", ")}`, EXIT.usage);
}

/** Returns the games that a bot plays; null for all games. */
async function gamesOf(spec: string, allow: BotPermissions, clock: Clock): Promise<readonly string[] | null> {
  if (spec.startsWith("uci:")) return UCI_GAMES;
  if (!isModuleFile(spec)) return BUILT_IN_BOTS[spec]?.games ?? null;
  const bot = await loadBot(spec, clock, {
    recordsFolder: () => "",
    say() {},
    warn() {},
    fail() {},
    allow,
    inspect: null,
  });
  await bot.close?.();
  return bot.games ?? null;
}
