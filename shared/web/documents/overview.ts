import type { LeagueDocument, MatchRow } from "./league.ts";
import type { StandingRow } from "./standings.ts";

/** `GET /api/leagues/{league_id}`: the first page of a league. */
export interface OverviewDocument extends LeagueDocument {
  /** The first rows of the standings. */
  readonly leaders: readonly StandingRow[];
  /** Matches that are being played. */
  readonly playing: readonly MatchRow[];
  /** The last results, the latest first. */
  readonly results: readonly MatchRow[];
}
