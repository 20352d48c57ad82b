import type { LeagueDocument, PageOf, PlayerRef } from "./league.ts";

/** `GET /api/leagues/{league_id}/ratings?page=1` */
export interface RatingsDocumentPage extends LeagueDocument, PageOf {
  /** `bradley-terry`: Elo points around an average of 1500. `openskill`: ratings of the members of teams. */
  readonly model: "bradley-terry" | "openskill";
  /** The number of rated matches. */
  readonly matches: number;
  /** If the league has too many players for ratings, the maximum number of players; `rows` is empty then. Otherwise null. */
  readonly limit: number | null;
  /** The lowest and the highest end of an interval of the league, for the scale of the drawing. */
  readonly low: number;
  readonly high: number;
  /** The first row has this number. */
  readonly first: number;
  readonly rows: readonly RatingRowView[];
}

export interface RatingRowView extends PlayerRef {
  readonly rating: number;
  /** Half of the width of the 95% interval. */
  readonly error: number;
  readonly matches: number;
  readonly percent: number | null;
  /** The comparison with the next player of the list; null for the last one. */
  readonly next: { readonly likelihood: number; readonly is_significant: boolean } | null;
}
