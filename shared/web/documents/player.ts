import type { LeagueDocument, PageOf, PlayerRef } from "./league.ts";

/** `GET /api/leagues/{league_id}/players/{player_id}?page=1`: a player, with what the author of its bot needs to correct it. */
export interface PlayerDocument extends LeagueDocument, PageOf {
  readonly player: PlayerRef;
  /** The state of the player in words. `needs_attention`: it does not play, or not for long. */
  readonly state: { readonly text: string; readonly needs_attention: boolean };
  readonly rank: number;
  readonly points: number;
  readonly played: number;
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
  /** The last results, the latest last. */
  readonly form: readonly FormResult[];
  /** Null without a rated match, and in a league with too many players for ratings on pages. `error` is half of the width of the 95% interval. */
  readonly rating: { readonly rating: number; readonly error: number } | null;
  /** The answer times of the last matches; null if no referee has reported them. */
  readonly answers: AnswerSummary | null;
  /** The faults of the player by cause, the most frequent first. */
  readonly faults: readonly FaultCount[];
  readonly last_error: LastError | null;
  /** The results against each opponent, in the order of the standings. */
  readonly opponents: readonly OpponentRow[];
  /** The number of opponents that `opponents` leaves out. */
  readonly further_opponents: number;
  /** The other leagues of this manager in which the player plays. */
  readonly other_leagues: readonly { readonly league_id: string; readonly game_name: string }[];
  /** One page of its matches: those that are played, the completed ones from the last to the first, then the next ones. */
  readonly rows: readonly PlayerMatchRow[];
}

export type Mark = "win" | "draw" | "loss" | "none";

export interface FormResult {
  readonly match_id: string;
  readonly mark: Mark;
  readonly opponents: readonly PlayerRef[];
}

/** Times in milliseconds, from a request to the arrival of the accepted answer, as the referees measured them. */
export interface AnswerSummary {
  /** The number of matches, the last ones of the player, and of their turns. */
  readonly matches: number;
  readonly turns: number;
  /** The median of the medians of the matches. */
  readonly median_ms: number;
  /** The time within which the player answered 95% of the turns, in the median of the matches. */
  readonly p95_ms: number;
  /** `step`: the step of the match's page to which the answer led; null if the match has no log. */
  readonly slowest: { readonly ms: number; readonly match_id: string; readonly step: number | null };
  /** The number of invalid answers and illegal actions. */
  readonly invalid: number;
}

export interface FaultCount {
  /** The cause in words. */
  readonly text: string;
  /** What usually corrects it. */
  readonly advice: string;
  readonly count: number;
}

/** The last match that the player has lost by its fault, with the exchange of messages. */
export interface LastError extends Omit<FaultCount, "count"> {
  readonly match_id: string;
  readonly opponents: readonly PlayerRef[];
  readonly role: string;
  /** What the referee had asked for: "a move", "an invitation". */
  readonly request: string;
  /** The step of the match's page with the position of the request, 0 for the first turn; null without a log. */
  readonly step: number | null;
  readonly detail: string;
  /** The answer of the player as text, cut to 2 kB; null if it sent none. */
  readonly answer: string | null;
  /** What the player was to decide, as its bot received it; null if it was not asked for a move. */
  readonly position: { readonly text: string; readonly game_state: string; readonly legal_actions: string } | null;
}

export interface OpponentRow extends PlayerRef {
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
}

export interface PlayerMatchRow {
  readonly match_id: string;
  readonly round_id: number;
  readonly status: "scheduled" | "playing" | "completed";
  readonly role: string;
  readonly opponents: readonly PlayerRef[];
  /** The players of the same team. */
  readonly partners: readonly PlayerRef[];
  /** Null without a result. */
  readonly mark: Mark | null;
  /** How the match ended, in words; empty without a result. */
  readonly reason: string;
  /** Whether the player lost the match by its fault. */
  readonly is_own_fault: boolean;
  /** Null if its referee has not reported them. */
  readonly answers: { readonly median_ms: number; readonly max_ms: number } | null;
}
