import type { LeagueDocument, PageOf, PlayerRef } from "./league.ts";

/** `GET /api/leagues/{league_id}/standings?page=1` */
export interface StandingsDocument extends LeagueDocument, PageOf {
  /** The tie-breaks that have a column. */
  readonly tie_breaks: readonly { readonly id: string; readonly heading: string }[];
  readonly has_byes: boolean;
  readonly rows: readonly StandingRow[];
}

export interface StandingRow extends PlayerRef {
  readonly rank: number;
  readonly points: number;
  readonly played: number;
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
  readonly byes: number;
  /** In the order of `StandingsDocument.tie_breaks`; null if a tie-break does not apply to the player. */
  readonly tie_breaks: readonly (number | null)[];
}
