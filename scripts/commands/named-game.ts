import { type Game, withoutVersion } from "#shared/games/game.ts";
import { findGameNamed, type GameId, knownGameIds } from "#shared/games/registry.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { cutTo, didYouMean } from "#shared/lib/text.ts";
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

/** Returns the options of a game from `name=value` pairs of the command line. */
export function optionsOf(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...rest] = pair.split("=");
      const text = rest.join("=");
      return [name, /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text];
    }),
  );
}

/** Returns the options of a game from `name=value` pairs. Throws StartError if the game rejects them. */
export function givenOptions(game: Game, pairs: readonly string[]): Record<string, unknown> {
  const options = optionsOf(pairs);
  const parsed = game.options.safeParse(options);
  if (parsed.success) return options;
  throw new StartError(parsed.error.issues.map((issue) => `--option ${faultLine(issue)}`).join("\n"), EXIT.usage);
}

/**
 * The options with which `play`, `dev` and `match` play a game, if the command line does not set them. Leagues have those of the game. In a single round of
 * rock, paper, scissors there are no earlier choices, so that every bot scores 50%.
 */
const OPTIONS_OF_COMMANDS: Readonly<Partial<Record<string, Readonly<Record<string, unknown>>>>> = {
  "rps.v1": { best_of: 9 },
} satisfies Partial<Record<GameId, Readonly<Record<string, unknown>>>>;

/** Returns the options of a game from `name=value` pairs for `play`, `dev` and `match`. They are not checked. */
export const optionsOfCommand = (game: Game, pairs: readonly string[]): Record<string, unknown> => ({
  ...OPTIONS_OF_COMMANDS[game.id],
  ...optionsOf(pairs),
});

/** The maximum length of an option in the head of an output. */
const MAX_SHOWN = 60;

/**
 * Returns a game and its options as the head of an output: `rps.v1 (best_of=9)`. Defaults are shown too, but no default text with spaces, such as the
 * position at the start of chess. `game` is undefined if this process does not know the game.
 */
export function gameHead(id: string, game: Game | undefined, options: Readonly<Record<string, unknown>>): string {
  const parsed = game?.options.safeParse(options);
  const all = parsed?.success ? (parsed.data as Readonly<Record<string, unknown>>) : options;
  const shown = Object.entries(all).flatMap(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const isShown = name in options || !/\s/.test(text);
    return isShown ? [`${name}=${cutTo(MAX_SHOWN, text)}`] : [];
  });
  return shown.length === 0 ? id : `${id} (${shown.join(", ")})`;
}
