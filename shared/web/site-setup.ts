import type { BoardKind } from "../games/game.ts";
import type { FactsOfGames } from "./game-facts.ts";
import type { PageKind } from "./page-files.ts";

/** The data that every page of a server contains for its script. */
export interface SiteSetup {
  readonly page: PageKind;
  /** The board that the page shows first; null if it shows none or if it is not known yet. */
  readonly board: BoardKind | null;
  readonly games: FactsOfGames;
}
