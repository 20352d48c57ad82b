import { chess } from "./chess.ts";
import { codenames } from "./codenames.ts";
import { connectFour } from "./connect-four.ts";
import { evenOdd } from "./even-odd.ts";
import { type Game, withoutVersion } from "./game.ts";
import { kuhnPoker } from "./kuhn-poker.ts";
import { rps } from "./rps.ts";
import { ticTacToe } from "./tic-tac-toe.ts";

/** All games by their ids. A new game is one file and one line here; the conformance tests then include it. */
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
type PartsOf<G extends GameId> =
  (typeof games)[G] extends Game<unknown, unknown, infer Action, infer View>
    ? { readonly action: Action; readonly view: View }
    : never;
export type ActionOf<G extends GameId> = PartsOf<G>["action"];
export type ViewOf<G extends GameId> = PartsOf<G>["view"];

export const gameIds = Object.keys(games) as readonly GameId[];

const byId = new Map<string, Game>(Object.entries(games));

/** Returns a text without case, spaces and punctuation. */
const normalized = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
const byName = new Map<string, Game>(
  Object.values(games).flatMap((game) =>
    [withoutVersion(game.id), game.info.name].map((name) => [normalized(name), game]),
  ),
);

/**
 * Returns the game that a person or an LLM names by its id, its id without version or its name, in any case:
 * "chess.v1", "Chess", "tic-tac-toe".
 */
export function findGameNamed(text: string): Game | undefined {
  const name = text.trim().toLowerCase();
  return byId.get(name) ?? byName.get(normalized(name));
}

/** Returns the game with this id, or undefined. */
export const findGame = (id: string): Game | undefined => byId.get(id);
