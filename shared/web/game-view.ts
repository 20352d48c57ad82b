import type { FactsOfGames } from "./game-facts.ts";

/** What one viewer may know of a game: the contract between the server that tells it and the board that shows it. */
export interface GameView {
  readonly game_id: string;
  /** Template id with version, e.g. "chess.v1": it chooses the board. */
  readonly template: string;
  /** The game's name for people: "Chess". */
  readonly name: string;
  readonly status: "waiting_for_players" | "active" | "completed";
  readonly tick: number;
  /** A role, or "spectator". */
  readonly your_role: string;
  readonly roles: readonly string[];
  readonly players: Readonly<Record<string, PlayerView>>;
  readonly to_act: readonly string[];
  /** The game's `viewState` for `your_role`. */
  readonly state: unknown;
  /** Of `your_role` when it is to act, else empty. */
  readonly legal_actions: readonly unknown[];
  /** The game as text, always there: the board of every game that has no own one. */
  readonly board: string;
  readonly last_action: { readonly role: string; readonly action: unknown; readonly tick: number } | null;
  readonly result: GameResult | null;
}

export interface PlayerView {
  readonly kind: "agent" | "human" | "bot";
  readonly name: string;
  readonly joined: boolean;
}

export interface GameResult {
  /** The roles that have won: several where a team does, none in a draw. */
  readonly winners: readonly string[];
  /** The one role that has won; null when none has, or several have. */
  readonly winner: string | null;
  /** snake_case: "checkmate". */
  readonly reason: string;
  readonly termination: string;
}

/** A row of `GET /api/games`, which answers `{"games": [...]}`, running ones first: what everybody may know. */
export interface GameSummary {
  readonly game_id: string;
  readonly template: string;
  readonly status: string;
  readonly created_at: string;
  /** Role to name. */
  readonly players: Readonly<Record<string, string>>;
  readonly result: GameResult | null;
}

/** A person's place in a game; the token is a secret. */
export interface Seat {
  readonly role: string;
  readonly token: string;
}

/** Said together with a move; one that turns out wrong is refused together with its move. */
export type Claim = "checkmate" | "draw";

/**
 * Where a board stands, hence how it talks: "page" over HTTP with our server, "app" with the host of an MCP App,
 * "embed" by plain messages to whatever frames it.
 */
export type BoardMode = "page" | "app" | "embed";

/** What a document brings along for its script. */
export interface BoardSetup {
  readonly mode: BoardMode;
  readonly game: GameView | null;
  readonly seat: Seat | null;
  readonly games: FactsOfGames;
}

/** What the list of games brings along for its script. */
export type GamesSetup = Pick<BoardSetup, "games">;

/** In a tool's result, under `_meta`: the `UserSeat` of the person who looks at the app; never in what the model reads. */
export const USER_SEAT_META = "agent-league/user_seat";

/** A person's seat, and the game as that seat sees it: what the model sees may be another hand. */
export interface UserSeat extends Seat {
  readonly view?: GameView;
}
