import { type Game, withoutVersion } from "#shared/games/game.ts";
import { findGameNamed, knownGameIds } from "#shared/games/registry.ts";
import { didYouMean } from "#shared/lib/text.ts";
import { isGameFile, loadGames } from "#shared/runtime/game-files.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";

/** Returns the game that `--game` of a command selects: a built-in game by its id or name, or the game of a file, which it registers. */
export async function namedGame(text: string): Promise<Game> {
  const [game = findGameNamed(text)] = await loadGames(isGameFile(text) ? [text] : []);
  if (game) return game;
  const known = `choose one of ${knownGameIds().join(", ")}, or the .ts or .js file of a game`;
  const hint = didYouMean(text, [...knownGameIds().map(withoutVersion), ...knownGameIds()]);
  throw new StartError(`unknown game ${text}${hint || `; ${known}`}`, EXIT.usage);
}
