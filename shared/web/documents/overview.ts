import type { LeagueDocument, MatchRow, PlayerRef } from "./league.ts";
import type { StandingRow, TeamRow } from "./standings.ts";

/** `GET /api/leagues/{league_id}`: the first page of a league. */
export interface OverviewDocument extends LeagueDocument {
  /** The first rows of the standings. */
  readonly leaders: readonly StandingRow[];
  /** The first rows of the standings of teams; null if each player plays for itself. */
  readonly teams: readonly TeamRow[] | null;
  /** The players with the first rank of a completed league, or the members of the teams with the first rank; empty otherwise. */
  readonly winners: readonly PlayerRef[];
  /** Matches that are being played. */
  readonly playing: readonly MatchRow[];
  /** The number of matches that are being played. */
  readonly playing_count: number;
  /** The last results, the latest first. */
  readonly results: readonly MatchRow[];
  /** How a further player joins; null if the league accepts none. */
  readonly joining: Joining | null;
  /** The result so far of a league that tests a hypothesis; null for other leagues. */
  readonly test: TestResult | null;
}

export interface Joining {
  /** The addresses of the manager, those for other machines first: "http://192.168.0.7:8000". */
  readonly addresses: readonly string[];
  /** The command line of this program: "npm run league --". */
  readonly program: string;
  /** Whether players need a join code. The code itself is not published. */
  readonly needs_join_code: boolean;
}

export interface TestResult {
  /** The result as a sentence. */
  readonly text: string;
  readonly is_decided: boolean;
  /** How often the player under test has 0, ½, 1, 1½ and 2 points in a pair of matches with exchanged roles. */
  readonly pairs: readonly number[];
}
