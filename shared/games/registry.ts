import { invariant } from "../lib/result.ts";
import { chess } from "./chess.ts";
import { codenames } from "./codenames.ts";
import { connectFour } from "./connect-four.ts";
import { evenOdd } from "./even-odd.ts";
import { type Game, withoutVersion } from "./game.ts";
import { kuhnPoker } from "./kuhn-poker.ts";
import { rps } from "./rps.ts";
import { ticTacToe } from "./tic-tac-toe.ts";

/** The built-in games by their ids. A new one is one file and one line here; the conformance tests then include it. */
export const games = {
  "even_odd.v1": evenOdd,
  "rps.v1": rps,
  "chess.v1": chess,
  "tic_tac_toe.v1": ticTacToe,
  "connect_four.v1": connectFour,
  "kuhn_poker.v1": kuhnPoker,
  "codenames.v1": codenames,
} as const satisfies Readonly<Record<string, Game>>;

export type GameId = keyof typeof games;
type DefinitionOf<G extends GameId | Game> = G extends GameId ? (typeof games)[G] : G;
type PartsOf<G extends GameId | Game> =
  DefinitionOf<G> extends Game<unknown, unknown, infer Action, infer View, infer Role>
    ? { readonly action: Action; readonly view: View; readonly role: Role }
    : never;
/** The type of the actions of a built-in game, named by its id, or of the type of a game's definition. */
export type ActionOf<G extends GameId | Game> = PartsOf<G>["action"];
export type ViewOf<G extends GameId | Game> = PartsOf<G>["view"];
/** The type of the roles. It is `string` for any built-in game, so that a bot of all games can compare a role with any name. */
export type RoleOf<G extends GameId | Game> = GameId extends G ? string : PartsOf<G>["role"];

/** The ids of the built-in games. Code that also serves games of files uses `knownGameIds`. */
export const gameIds = Object.keys(games) as readonly GameId[];

/** The games of this process: the built-in games, and those of files that it has registered at its start. */
const byId = new Map<string, Game>(Object.entries(games));

export const knownGames = (): readonly Game[] => [...byId.values()];
export const knownGameIds = (): readonly string[] => [...byId.keys()];
export const isBuiltIn = (id: string): boolean => Object.hasOwn(games, id);

/**
 * Adds a game of a file to the games of this process. A process calls it at its start, before it parses a config or
 * creates tools, pages and registrations, which list the known games. The id must not be known yet. Returns a function
 * that removes the game, for tests.
 */
export function registerGame(game: Game): () => void {
  invariant(!byId.has(game.id), `the game ${game.id} is registered once`);
  byId.set(game.id, game);
  return () => void byId.delete(game.id);
}

/** Returns a text without case, spaces and punctuation. */
const normalized = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

/** Whether a text is the id without version or the name of a game, in any case. */
const isNamed = ({ id, info }: Game, text: string): boolean =>
  [withoutVersion(id), info.name].some((name) => normalized(name) === normalized(text));

/**
 * Returns the game that a person or an LLM names by its id, its id without version or its name, in any case:
 * "chess.v1", "Chess", "tic-tac-toe".
 */
export function findGameNamed(text: string): Game | undefined {
  return byId.get(text.trim().toLowerCase()) ?? knownGames().find((game) => isNamed(game, text));
}

/** Returns the game with this id, or undefined. */
export const findGame = (id: string): Game | undefined => byId.get(id);
