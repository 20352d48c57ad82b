import type { Game } from "#shared/games/game.ts";
import type { Subject } from "./subject.ts";

/** A player that is checked at its URL, without a registration. `token` is its token or secret; null if it is not known. */
export const urlPlayer = (endpoint: string, token: string | null, games: readonly Game[] | null): Subject => ({
  ...{ name: endpoint, playerId: "P01", endpoint, hasInbox: false, token, hasChosenToken: token !== null },
  ...{ games: games?.map(({ id }) => id) ?? null, dialect: "native" },
  ...{ wantsLegalActions: true, wantsRoundResults: true, wantsAnnouncements: true },
});
