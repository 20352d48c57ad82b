import type { Opponent, OptionField } from "#shared/games/new-game-choices.ts";
import type { FactsOfGames, GameView } from "./game-view.ts";

/** `GET /api/new-game`: what a person can choose for a new game. */
export interface NewGameDocument {
  readonly games: readonly NewGameChoice[];
}

export interface NewGameChoice {
  /** The id of the game, e.g. "chess.v1". */
  readonly template: string;
  readonly roles: readonly string[];
  /** The bots and engines, the weakest first. */
  readonly opponents: readonly Opponent[];
  readonly options: readonly OptionField[];
}

/** `GET /api/games/{id}/invitations`, for the seat that has created the game: how the other players get their seats. */
export interface InvitationsDocument {
  /** The links of the other people. */
  readonly people: readonly PersonInvitation[];
  /** The open seats for programs, which call joinGame. */
  readonly agents: readonly { readonly role: string }[];
  /** Whether the game is a rematch, which the page of the earlier game offers to the other people. */
  readonly is_rematch: boolean;
  /** The MCP endpoint of this server. */
  readonly mcp_url: string;
}

interface PersonInvitation {
  readonly role: string;
  readonly link: string;
  /** Whether the link was opened since this server has started. */
  readonly has_opened: boolean;
}

/** `GET /api/games/{id}/history?from=0`: the moves of a game that the caller may know, with the positions after them. */
export interface HistoryDocument {
  /** The position before the first move. */
  readonly start: Position;
  /** The number of moves before the first one of `moves`. */
  readonly from: number;
  readonly moves: readonly HistoryMove[];
}

export interface HistoryMove {
  readonly tick: number;
  readonly role: string;
  readonly action: unknown;
  /** The action as people write it: SAN in chess. */
  readonly text: string;
  /** The position after the move, for the caller. Absent in the older moves of a very long game. */
  readonly after?: Position;
}

/** The view and the text of a game, for one viewer. */
interface Position {
  readonly state: unknown;
  readonly board: string;
}

/** `GET` and `POST /api/games/{id}/rematch`: the link of the caller's seat in the rematch; null if no player has asked for one. */
export interface RematchDocument {
  readonly link: string | null;
}

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
