import type { FactsOfGames } from "../game-facts.ts";

/** The properties of every page of the manager: its document, and the fault of the connection or "". */
export interface PageProps<T> {
  readonly document: T;
  readonly problem: string;
  readonly games: FactsOfGames;
}
