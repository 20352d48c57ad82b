import { listSummary } from "#shared/lib/list-summary.ts";
import type { FormatMatch, FormatRound, LeagueView } from "./format.ts";

/** The players that can be paired, in the order of their seeding. */
export const activePlayers = (view: LeagueView): readonly string[] =>
  view.players.filter(({ hasLeft }) => !hasLeft).map(({ playerId }) => playerId);

/** All matches, in the order of their pairing. */
export const matchesOf = (view: LeagueView): readonly FormatMatch[] => view.rounds.flatMap(({ matches }) => matches);

const counts = listSummary({
  empty: () => ({ matches: 0, open: 0 }),
  add(sum, { matches }: FormatRound, times) {
    sum.matches += times * matches.length;
    for (const { outcome } of matches) if (outcome === null) sum.open += times;
  },
});

/** The number of matches. */
export const matchCount = ({ rounds }: LeagueView): number => counts(rounds).matches;

/** The number of matches that are not completed. */
export const openMatches = ({ rounds }: LeagueView): number => counts(rounds).open;

/** A key for two players in any order. */
export const pairKey = (a: string, b: string): string => (a < b ? `${a} ${b}` : `${b} ${a}`);
