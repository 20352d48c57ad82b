import type { Game, GameInfo } from "#shared/games/game.ts";
import type { ClockState } from "#shared/lib/time-control.ts";

/** The view of a game for one viewer: the contract between the server and the board. */
export interface GameView {
  readonly game_id: string;
  /** The id of the game with its version, e.g. "chess.v1". It determines the board. */
  readonly template: string;
  /** The name of the game for people, e.g. "Chess". */
  readonly name: string;
  readonly status: "waiting_for_players" | "active" | "completed";
  readonly tick: number;
  /** A role, or "spectator". */
  readonly your_role: string;
  readonly roles: readonly string[];
  readonly players: Readonly<Record<string, PlayerView>>;
  readonly to_act: readonly string[];
  /** The result of the game's `viewState` for `your_role`, without a history that only programs need. */
  readonly state: unknown;
  /** The legal actions of `your_role` if it is to act, otherwise empty. */
  readonly legal_actions: readonly unknown[];
  /** The game as text, always present. It is the board of games without a graphical board. */
  readonly board: string;
  readonly last_action: { readonly role: string; readonly action: unknown; readonly tick: number } | null;
  readonly result: GameResult | null;
  /** The clocks at the start of the open turn; absent in a game without clocks. */
  readonly clock?: ShownClock | undefined;
  /** The league match, for spectators of a referee. Absent in other games, and in a match whose names the referee does not have in memory. */
  readonly match?: LeagueMatch | undefined;
  /** Why a league match has begun again. Absent in the first attempt at a match and in other games. */
  readonly restart?: Restart | undefined;
}

/** The beginning of a further attempt at a league match. */
export interface Restart {
  /** The number of the attempt, from 2. */
  readonly attempt: number;
  /** Why the match was taken from its former referee, in words; null if it is not known. */
  readonly reason: string | null;
}

/** The clocks at the start of a turn. */
export interface ShownClock extends ClockState {
  /** The time since the start of the turn, when the server sent the view. Absent in a stored view, and from other servers. */
  readonly elapsed_ms?: number | undefined;
}

export interface LeagueMatch {
  readonly league_id: string;
  readonly match_id: string;
}

/** The name of a person who has given none. */
export const GUEST = "Guest";

export interface PlayerView {
  readonly kind: "agent" | "human" | "bot";
  readonly name: string;
  readonly joined: boolean;
}

/** Returns the name of a player. The name of a bot begins with a capital letter: "Random". */
export const nameInWords = ({ kind, name }: PlayerView): string =>
  kind === "bot" ? name.charAt(0).toUpperCase() + name.slice(1) : name;

export interface GameResult {
  /** The roles that have won: several if a team has won, none in a draw. */
  readonly winners: readonly string[];
  /** The role that has won; null if no role or several roles have won. */
  readonly winner: string | null;
  /** The reason in snake_case, e.g. "checkmate". */
  readonly reason: string;
  readonly termination: string;
}

/**
 * The public information about a game: an entry of `GET /api/games`, which answers `{"games": [...]}` with active games
 * first.
 */
export interface GameSummary {
  readonly game_id: string;
  readonly template: string;
  /** "waiting_for_players" while a seat is open, then the status of the session. */
  readonly status: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The names of the players by role, in the order of the roles of the game. */
  readonly players: Readonly<Record<string, string>>;
  /** null until the game is over. */
  readonly result: GameResult | null;
  /** As in a view. */
  readonly match?: LeagueMatch | undefined;
}

/** A person's seat in a game. The token is a secret. */
export interface Seat {
  readonly role: string;
  readonly token: string;
}

/** A claim that is sent together with a move. If it is wrong, the move is rejected as well. */
export type Claim = "checkmate" | "draw";

/**
 * How a self-contained board communicates: "app" with the host of an MCP App, "embed" by messages to the window that contains its frame.
 */
export type BoardMode = "app" | "embed";

/** The data of a self-contained board for its script. */
export interface BoardSetup {
  readonly mode: BoardMode;
  readonly game: GameView | null;
  readonly seat: Seat | null;
  readonly games: FactsOfGames;
}

/**
 * The field of `_meta` of a tool's result with the `UserSeat` of the person who sees the app. The model does not see
 * `_meta`.
 */
export const USER_SEAT_META = "agent-league/user_seat";

/** A person's seat, with the game as this seat sees it. The view of the model may show other hidden information. */
export interface UserSeat extends Seat {
  readonly view?: GameView;
}

/** The facts about a game that a page needs besides its views. The games themselves are too large for a page. */
export type GameFacts = Pick<GameInfo, "name" | "board" | "teams" | "winningReason" | "needsLanguage" | "howToPlay">;

/** The facts about games by the ids of the games. */
export type FactsOfGames = Readonly<Record<string, GameFacts>>;

/** Returns the facts about games. */
export const factsOf = (games: Iterable<Pick<Game, "id" | "info">>): FactsOfGames =>
  Object.fromEntries(
    Array.from(
      games,
      ({ id, info: { name, board, teams, winningReason, needsLanguage, rules, howToPlay = rules } }) => [
        id,
        {
          name,
          howToPlay,
          ...(board && { board }),
          ...(teams && { teams }),
          ...(winningReason && { winningReason }),
          ...(needsLanguage && { needsLanguage }),
        },
      ],
    ),
  );

/** The fields of a view that change during a match. */
export type Frame = Pick<
  GameView,
  "status" | "tick" | "to_act" | "state" | "board" | "last_action" | "result" | "clock"
> & {
  /** The actions of the turn that led to this frame, as people write them: SAN in chess. */
  readonly moves: readonly MoveOfTurn[];
};

export interface MoveOfTurn {
  readonly role: string;
  readonly text: string;
}

/** A match as a spectator has seen it, step by step. */
export interface Replay {
  readonly game: Omit<GameView, keyof Frame>;
  readonly frames: readonly Frame[];
}

/** A replay in a report. */
export interface PackedReplay {
  /** The part of the address after `#` that shows this replay. */
  readonly anchor: string;
  readonly label: string;
  /** A `Replay` as JSON, compressed (raw DEFLATE) and in Base64. */
  readonly data: string;
}

/** The data of a report for its script. */
export interface ReportSetup {
  readonly games: FactsOfGames;
  readonly replays: readonly PackedReplay[];
}
