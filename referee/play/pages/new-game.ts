import { optionFields } from "#shared/games/new-game-choices.ts";
import { knownGames } from "#shared/games/registry.ts";
import type { NewGameDocument } from "#shared/web/play-documents.ts";
import type { AvailableBots } from "../context.ts";

/** The games that most people know, which are offered first. */
const WELL_KNOWN: readonly string[] = ["chess.v1", "connect_four.v1", "tic_tac_toe.v1", "rps.v1"];

const rankOf = ({ id }: { readonly id: string }): number =>
  WELL_KNOWN.includes(id) ? WELL_KNOWN.indexOf(id) : WELL_KNOWN.length;

/** What a person can choose for a new game of this process, well-known games first. */
export const newGameDocument = (bots: Pick<AvailableBots, "opponentsIn">): NewGameDocument => ({
  games: [...knownGames()]
    .sort((one, other) => rankOf(one) - rankOf(other))
    .map((game) => ({
      template: game.id,
      roles: game.roles,
      opponents: bots.opponentsIn(game.id),
      options: optionFields(game),
    })),
});
