import type { Game, GameInfo } from "../games/game.ts";

/** What a page needs to know of a game besides its views. The games themselves are too large for a page. */
export type GameFacts = Pick<GameInfo, "name" | "board" | "teams" | "winningReason" | "needsLanguage">;

/** Facts by the id of the game. */
export type FactsOfGames = Readonly<Record<string, GameFacts>>;

export const factsOf = (games: Iterable<Pick<Game, "id" | "info">>): FactsOfGames =>
  Object.fromEntries(
    Array.from(games, ({ id, info: { name, board, teams, winningReason, needsLanguage } }) => [
      id,
      {
        name,
        ...(board && { board }),
        ...(teams && { teams }),
        ...(winningReason && { winningReason }),
        ...(needsLanguage && { needsLanguage }),
      },
    ]),
  );
