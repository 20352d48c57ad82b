import type { LeagueDocument, MatchRow, PageOf, PlayerRef } from "./league.ts";

/** `GET /api/leagues/{league_id}/standings?page=1` */
export interface StandingsDocument extends LeagueDocument, PageOf {
  /** The tie-breaks that have a column. */
  readonly tie_breaks: readonly TieBreakColumn[];
  readonly has_byes: boolean;
  readonly rows: readonly StandingRow[];
  /** The standings of the teams, at most 100; null if each player plays for itself. */
  readonly teams: readonly TeamRow[] | null;
  /** The match that was completed last; null before the first result. */
  readonly last_result: MatchRow | null;
}

export interface TieBreakColumn {
  readonly id: string;
  readonly heading: string;
  /** What the column contains, in a sentence. */
  readonly rule: string;
}

/** What the standings count for a player or a team. */
interface Counts {
  readonly rank: number;
  /** The number of places gained since the round before that of the last result, negative for lost ones. Null if there is no earlier round. */
  readonly movement: number | null;
  readonly points: number;
  readonly played: number;
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
}

export interface StandingRow extends PlayerRef, Counts {
  readonly byes: number;
  /** In the order of `StandingsDocument.tie_breaks`; null if a tie-break does not apply to the player. */
  readonly tie_breaks: readonly (number | null)[];
  /** `left`: the player has left the league. `suspended`: it did not answer in time. `absent`: it plays no more. */
  readonly presence: "present" | "suspended" | "shut_down" | "removed" | "left";
  /** The last results, the latest last; at most five. */
  readonly form: readonly FormMark[];
}

export interface FormMark {
  readonly match_id: string;
  readonly result: "win" | "draw" | "loss";
}

export interface TeamRow extends Counts {
  readonly team_id: string;
  readonly members: readonly PlayerRef[];
}
