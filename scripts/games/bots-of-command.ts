import { basename } from "node:path";
import { BUILT_IN_BOTS } from "#shared/games/built-in-bots.ts";
import type { Game } from "#shared/games/game.ts";
import { findGameNamed, type GameId } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { cutTo, inOneLine } from "#shared/lib/text.ts";
import type { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { UCI_GAMES } from "../../player/engines/uci-bot.ts";
import { isBotFile, isModuleFile, programIn } from "../../player/loaders/bot-files.ts";
import { LLM_PREFIX } from "../../player/loaders/llm.ts";
import { loadBot } from "../../player/loaders/load-bot.ts";
import { namedGame } from "./named-game.ts";

/** The maximum length of a bot's name. A player's name has at most 100 characters, and a number may follow. */
const NAME_CHARACTERS = 90;

/** Returns the display name of a bot: the name of its file without the folder, the model, or the name of a built-in bot. */
const nameOf = (bot: string): string =>
  inOneLine(
    cutTo(
      NAME_CHARACTERS,
      isBotFile(bot) ? basename(programIn(bot).program) : bot.replace(/^llm:http[^#]*#/, LLM_PREFIX),
    ),
  );

/** Returns the display names of the bots of a command. Equal names get the number of the bot. */
export function namesOf(bots: readonly string[]): readonly string[] {
  const names = bots.map(nameOf);
  const isRepeated = (name: string): boolean => names.indexOf(name) !== names.lastIndexOf(name);
  return names.map((name, index) => (isRepeated(name) ? `${name} ${index + 1}` : name));
}

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
