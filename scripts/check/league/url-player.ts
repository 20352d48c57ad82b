import type { Game } from "#shared/games/game.ts";
import type { Subject } from "./subject.ts";

interface UrlPlayer {
  readonly endpoint: string;
  /** The token or secret of the player; null if it is not known. */
  readonly token: string | null;
  /** The games to check; null for all. */
  readonly games: readonly Game[] | null;
  readonly refereeEndpoint: string | null;
}

/** A player that is checked at its URL, without a registration. */
export const urlPlayer = ({ endpoint, token, games, refereeEndpoint }: UrlPlayer): Subject => ({
  ...{
    name: endpoint,
    playerId: "P01",
    endpoint,
    hasInbox: false,
    refereeEndpoint,
    token,
    hasChosenToken: token !== null,
  },
  ...{ games: games?.map(({ id }) => id) ?? null, dialect: "native" },
  ...{ wantsLegalActions: true, wantsRoundResults: true, wantsAnnouncements: true, wantsDeltaViews: false },
});
