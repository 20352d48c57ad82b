import type { FormatMatch, LeagueView } from "./format.ts";

/** The players that can be paired, in the order of their seeding. */
export const activePlayers = (view: LeagueView): readonly string[] =>
  view.players.filter(({ hasLeft }) => !hasLeft).map(({ playerId }) => playerId);

/** All matches, in the order of their pairing. */
export const matchesOf = (view: LeagueView): readonly FormatMatch[] => view.rounds.flatMap(({ matches }) => matches);

/** The number of matches that are not completed. */
export const openMatches = (view: LeagueView): number =>
  matchesOf(view).filter(({ outcome }) => outcome === null).length;

/** A key for two players in any order. */
export const pairKey = (a: string, b: string): string => (a < b ? `${a} ${b}` : `${b} ${a}`);
