import { optionFields } from "#shared/games/option-fields.ts";
import { knownGames } from "#shared/games/registry.ts";
import type { NewGameDocument } from "#shared/web/play-documents.ts";
import type { AvailableBots } from "../context.ts";

/** What a person can choose for a new game of this process. */
export const newGameDocument = (bots: Pick<AvailableBots, "opponentsIn">): NewGameDocument => ({
  games: Array.from(knownGames(), (game) => ({
    template: game.id,
    roles: game.roles,
    opponents: bots.opponentsIn(game.id),
    options: optionFields(game),
  })),
});
