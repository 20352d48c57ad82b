import type { LeagueDocument, PlayerRef } from "./league.ts";

/** `GET /api/leagues/{league_id}/points?players=P01,P02`: the points of players over the rounds or over their matches. */
export interface PointsDocument extends LeagueDocument {
  /** The unit of the positions: rounds of the league, or matches of each player if the league plays several rounds at the same time. */
  readonly unit: "rounds" | "matches";
  /** The positions of the values, ascending from 0. A long league has at most MAX_POSITIONS of them. */
  readonly positions: readonly number[];
  /** The first players of the standings, and those that were asked for. */
  readonly series: readonly PointsSeries[];
  /** The number of players of the league. */
  readonly total: number;
}

export interface PointsSeries extends PlayerRef {
  readonly rank: number;
  /** The points at each position; shorter than the positions if the player has played fewer matches. */
  readonly values: readonly number[];
  /** The points in the standings. */
  readonly points: number;
}

/** The number of players with a colour. */
export const MAX_COLOURS = 6;
