import type { Game } from "#shared/games/game.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";

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
