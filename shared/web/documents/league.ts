import type { Restart } from "../game-view.ts";
/** A document that a page of the manager shows. It is complete, so a page needs only the last one. */
export interface LeagueDocument {
  readonly league: LeagueHeader;
}

/** What every page of a league shows. */
export interface LeagueHeader {
  readonly league_id: string;
  /** The id of the game: "rps.v1". */
  readonly game: string;
  readonly game_name: string;
  /** The format in words: "Swiss system, 5 rounds". Empty for a round robin with the default options. */
  readonly format: string;
  readonly status: "open" | "running" | "paused" | "completed";
  readonly players: number;
  /** How many of the players do not play any more: removed, shut down or left. */
  readonly departed: number;
  readonly completed: number;
  /** The number of matches at the end of the league at most; null if the format has no fixed end. */
  readonly matches: number | null;
  /** The round that is played; null before the start and after the end. */
  readonly round: number | null;
  /** The number of rounds that are paired so far. */
  readonly rounds: number;
  /** The number of rounds at the end of the league; null if it is not known. */
  readonly planned_rounds: number | null;
  /** What an open league waits for, in words; empty otherwise. */
  readonly waiting: string;
  /** The time before which an open league does not start, ISO 8601; null if there is none. */
  readonly starts_at: string | null;
  /** The time at which the played round ends, ISO 8601; null if it has no end. */
  readonly round_ends_at: string | null;
  /** The sections of the league that have a page. */
  readonly sections: readonly Section[];
  /** What determines the order of the players, as a sentence; empty if it is the order by points. */
  readonly order: string;
}

export const SECTIONS = ["standings", "schedule", "crosstable", "bracket", "ratings", "points"] as const;
export type Section = (typeof SECTIONS)[number];

/** A player as pages name it. */
export interface PlayerRef {
  readonly player_id: string;
  readonly name: string;
}

/** A match in a list. */
export interface MatchRow {
  readonly match_id: string;
  readonly round_id: number;
  readonly status: "scheduled" | "playing" | "completed";
  /** The players with their roles in words, in the order of the game's roles. `points` is null without a result. */
  readonly players: readonly (PlayerRef & { readonly role: string; readonly points: number | null })[];
  /** The name of the referee; null if the match is not assigned. */
  readonly referee: string | null;
  /** The result in words: "Ann won by checkmate". Null without a result. */
  readonly result: string | null;
  /** Why it ended so, in words: "checkmate". Null without a result. */
  readonly reason: string | null;
  readonly is_forfeit: boolean;
  /** Why the current attempt at the match began; null in the first one. */
  readonly restart: Restart | null;
}

/** One page of a long list, from 1. */
export interface PageOf {
  readonly page: number;
  readonly pages: number;
  readonly total: number;
}

/** The number of rows of a page of a list. */
export const PAGE_ROWS = 100;
