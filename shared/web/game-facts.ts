import type { Game, GameInfo } from "../games/game.ts";

/** The facts about a game that a page needs besides its views. The games themselves are too large for a page. */
export type GameFacts = Pick<GameInfo, "name" | "board" | "teams" | "winningReason" | "needsLanguage" | "howToPlay">;

/** The facts about games by the ids of the games. */
export type FactsOfGames = Readonly<Record<string, GameFacts>>;

/** Returns the facts about games. */
export const factsOf = (games: Iterable<Pick<Game, "id" | "info">>): FactsOfGames =>
  Object.fromEntries(
    Array.from(
      games,
      ({ id, info: { name, board, teams, winningReason, needsLanguage, rules, howToPlay = rules } }) => [
        id,
        {
          name,
          howToPlay,
          ...(board && { board }),
          ...(teams && { teams }),
          ...(winningReason && { winningReason }),
          ...(needsLanguage && { needsLanguage }),
        },
      ],
    ),
  );
