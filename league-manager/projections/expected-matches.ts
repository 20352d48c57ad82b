import { expectedMatches } from "../league/format-view.ts";
import type { League } from "../league/league.ts";

/** The expected number of matches of a league, and the state for which it was computed. */
interface Expected extends Pick<League, "entrants" | "departed" | "isPairingComplete" | "formatOptions"> {
  readonly matches: number | null;
}

/**
 * Returns a function that gives the number of matches that a league has at its end at most; null if its format never ends by itself. The number
 * is computed again only after a change of the players or the options, or when the format has added more matches, because some formats read all matches.
 */
export function expectedMatchesCache(): (league: League) => number | null {
  const cache = new Map<string, Expected>();
  return (league) => {
    const cached = cache.get(league.leagueId);
    if (cached && isValid(cached, league)) return cached.matches;
    const { leagueId, entrants, departed, isPairingComplete, formatOptions } = league;
    const matches = expectedMatches(league);
    cache.set(leagueId, { entrants, departed, isPairingComplete, formatOptions, matches });
    return matches;
  };
}

const isValid = (cached: Expected, league: League): boolean =>
  cached.entrants === league.entrants &&
  cached.departed === league.departed &&
  cached.formatOptions === league.formatOptions &&
  cached.isPairingComplete === league.isPairingComplete &&
  (cached.matches === null || league.matchCount <= cached.matches);
