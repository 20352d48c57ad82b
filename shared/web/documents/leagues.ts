import type { LeagueHeader, PageOf, PlayerRef } from "./league.ts";

/** `GET /api/leagues`: the list of leagues. */
export interface LeaguesDocument extends PageOf {
  readonly leagues: readonly LeagueSummary[];
}

export interface LeagueSummary extends LeagueHeader {
  /** The players with the first rank, at most three. */
  readonly leaders: readonly PlayerRef[];
}
