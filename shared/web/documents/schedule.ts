import type { LeagueDocument, MatchRow, PageOf, PlayerRef } from "./league.ts";

/** `GET /api/leagues/{league_id}/schedule?round=2&page=1&unpaired=1`: the matches of a round, or of all rounds if the league opens its rounds at once. */
export interface ScheduleDocument extends LeagueDocument, PageOf {
  /** The round that is shown; null if no round is paired, and for the matches of all rounds. */
  readonly round: ScheduleRound | null;
  /** The first number and the rounds of the list of rounds; a long list has only the rounds near the one that is shown. */
  readonly rounds: readonly RoundRef[];
  readonly last_round: number;
  /** The round that is played, or the last one. */
  readonly current_round: number;
  /** Whether the league plays several rounds at the same time, so that the matches of all rounds have a list. */
  readonly has_all: boolean;
  readonly matches: readonly MatchRow[];
}

export interface RoundRef {
  readonly round_id: number;
  /** The name of the round: "Final"; empty for none. */
  readonly label: string;
  readonly state: "waiting" | "playing" | "completed";
}

export interface ScheduleRound extends RoundRef {
  readonly opened_at: string | null;
  /** The time at which the round ends; null without a limit. */
  readonly ends_at: string | null;
  readonly completed: number;
  readonly byes: readonly PlayerRef[];
  /** The players that have left the league and have no match in this round. */
  readonly absent: readonly PlayerRef[];
  /** The page of the players without a match: those with a bye, and then those that have left. */
  readonly unpaired: PageOf;
}
