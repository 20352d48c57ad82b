import type { FactsOfGames } from "./game-facts.ts";
import type { GameView } from "./game-view.ts";

/** The state of a person who plays in leagues: the contract between the manager and its page. */
export interface PlayView {
  /** Differs after each change. */
  readonly version: number;
  readonly player_id: string;
  readonly name: string;
  /** Whether the person has nothing more to play. */
  readonly is_over: boolean;
  /** The matches of the person: those with an open turn first, the most urgent first, then the newest. */
  readonly matches: readonly MatchView[];
  readonly leagues: readonly LeagueView[];
}

export interface MatchView {
  readonly league_id: string;
  readonly match_id: string;
  readonly game: GameView;
  /** The time left for the person's move; null if it is not the person's turn. */
  readonly seconds_left: number | null;
  /** The reason why the last move in this turn was rejected. */
  readonly rejected: string | null;
}

export interface LeagueView {
  readonly league_id: string;
  readonly game_name: string;
  readonly status: "open" | "running" | "completed";
  /** The players or referees that an open league waits for, for people; "" if there are none. */
  readonly waiting: string;
  readonly next_match: { readonly round_id: number; readonly opponents: readonly string[] } | null;
  readonly standings: readonly StandingView[];
}

interface StandingView {
  readonly rank: number;
  readonly player_id: string;
  readonly display_name: string;
  readonly played: number;
  readonly points: number;
}

/** The leagues that a person can enter. */
export interface JoinView {
  readonly leagues: readonly { readonly league_id: string; readonly game_name: string; readonly players: number }[];
  readonly needs_join_code: boolean;
}

/** The data of the page for its script. */
export interface LeaguePlaySetup {
  readonly games: FactsOfGames;
}
