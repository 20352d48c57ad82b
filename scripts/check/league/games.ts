import type { Game } from "#shared/games/game.ts";
import { knownGames } from "#shared/games/registry.ts";
import { ANY_GAME } from "#shared/protocol/messages.ts";

/** Returns whether a player that registers with a game type plays a game. The type may omit the version of the game. */
const isType = (type: string, { id }: Game): boolean => type === id || id.startsWith(`${type}.`);

/** Whether a player names a game in its game types. A player that does not name it may not know its rules. */
export const namesGame = (types: readonly string[], game: Game): boolean => types.some((type) => isType(type, game));

/** The games of the game types that a player registers with, in the order of the registry. */
export const claimedGames = (types: readonly string[]): readonly Game[] =>
  knownGames().filter((game) => types.includes(ANY_GAME) || namesGame(types, game));

/** The game types that name neither a game nor every game. */
export const unknownTypes = (types: readonly string[]): readonly string[] =>
  types.filter((type) => type !== ANY_GAME && !knownGames().some((game) => isType(type, game)));
