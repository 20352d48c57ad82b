import type { FactsOfGames } from "../game-facts.ts";

/** What every page of the manager receives: its document, and the fault of the connection or "". */
export interface PageProps<T> {
  readonly document: T;
  readonly problem: string;
  readonly games: FactsOfGames;
}
