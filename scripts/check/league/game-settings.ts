import type { Game } from "#shared/games/game.ts";
import { parseSpeech } from "#shared/protocol/dialects/dialect.ts";
import type { Subject } from "./subject.ts";

/** The options that the user gives for one game. */
export interface GivenOptions {
  readonly game: Game;
  readonly options: object;
}

/**
 * Options that leagues use often and that change the views or the number of turns of a game: a player that is correct
 * with the default options may fail with them.
 */
const FURTHER: Readonly<Record<string, readonly object[]>> = {
  "rps.v1": [{ best_of: 3 }],
  "chess.v1": [{ max_plies: 60 }],
};

/** Returns the options with which a game is played, one after the other: those of the user, or the defaults and the further ones. */
export function settingsOf({ dialect }: Subject, { id }: Game, given: GivenOptions | null): readonly object[] {
  // The dialect of the classroom has even/odd only in the variant `draw`.
  const needed = parseSpeech(dialect)?.id === "classroom" && id === "even_odd.v1" ? { variant: "draw" } : {};
  if (given?.game.id === id) return [{ ...needed, ...given.options }];
  return [needed, ...(FURTHER[id] ?? [])];
}

/** Returns options as `name=value` pairs, as the command line has them. */
export const settingText = (options: unknown): string =>
  Object.entries(options as object)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
