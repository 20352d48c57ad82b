import type { Frame, Replay, Restart } from "./game-view.ts";

/** A document that a page of the manager shows. It is complete, so a page needs only the last one. */
interface LeagueDocument {
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

/** `GET /api/leagues`: the list of leagues. */
export interface LeaguesDocument extends PageOf {
  readonly leagues: readonly LeagueSummary[];
}

export interface LeagueSummary extends LeagueHeader {
  /** The players with the first rank, at most three. */
  readonly leaders: readonly PlayerRef[];
}

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
  /** Whether a command must name the league, because players can enter other leagues too. */
  readonly names_league: boolean;
}

export interface TestResult {
  /** The result as a sentence. */
  readonly text: string;
  readonly is_decided: boolean;
  /** How often the player under test has 0, ½, 1, 1½ and 2 points in a pair of matches with exchanged roles. */
  readonly pairs: readonly number[];
}

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

/** `GET /api/leagues/{league_id}/crosstable?rows=1&columns=1`. A large table is divided into pages of rows and of columns. */
export interface CrosstableDocument extends LeagueDocument {
  /** The page of the rows and of the columns, from 1. */
  readonly row_page: number;
  readonly column_page: number;
  readonly pages: number;
  /** The position in the standings of the first row and of the first column, from 1. */
  readonly first_row: number;
  readonly first_column: number;
  /** The players of the columns if their page differs from that of the rows; null otherwise. */
  readonly columns: readonly PlayerRef[] | null;
  readonly rows: readonly CrosstableRow[];
}

/** The results of a player. The number of the row is that of its column. */
export interface CrosstableRow extends PlayerRef {
  readonly rank: number;
  readonly points: number;
  /**
   * The cells, with commas between them. Each match is the result of the player of the row, that of the player of the column and the id of the match:
   * "10R2M1". The matches of a cell have spaces between them. A cell with many matches has their counts only: "*12/3/5", won, drawn and lost.
   * If rows and columns are the same players, a row begins after the diagonal, because the other cells are mirrored.
   */
  readonly cells: string;
}

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

/** `GET /api/leagues/{league_id}/bracket?part=1` */
export interface BracketDocument extends LeagueDocument {
  /**
   * A large bracket is shown in parts: the final rounds (`part` 0), and parts from 1 of which each has the ties of all rounds before that lead to the same
   * place. `parts` is 0 for a bracket that is shown as a whole.
   */
  readonly part: number;
  readonly parts: number;
  /** The trees of the bracket, empty before the first round is paired. */
  readonly trees: readonly BracketTree[];
  /** The players that have won the bracket; empty before. */
  readonly winner: readonly PlayerRef[];
}

/** Rounds of which each one follows from the one before. */
export interface BracketTree {
  /** "Winners", "Losers", "Third place" or "Final"; empty for the tree of a single elimination. */
  readonly name: string;
  readonly rounds: readonly BracketRoundView[];
}

export interface BracketRoundView {
  readonly label: string;
  /** The ties that are shown of a round that is not shown as a whole: "ties 33–64"; empty otherwise. */
  readonly ties_shown: string;
  readonly ties: readonly BracketTieView[];
}

export interface BracketTieView {
  readonly id: string;
  readonly state: "waiting" | "playing" | "decided";
  /** How the tie was decided, if not by points: "bye". Empty otherwise. */
  readonly note: string;
  readonly match_ids: readonly string[];
  readonly slots: readonly [BracketSlotView, BracketSlotView];
}

export interface BracketSlotView {
  /** The player, or the members of a team; empty if it is not known. */
  readonly players: readonly PlayerRef[];
  readonly seed: number | null;
  /** Where the player comes from, in words: "Winner of Semi-final 1". Empty if the player is known. */
  readonly from: string;
  /** The result of each match: 1, = or 0, + or - for a forfeit, "" for a match without a result. */
  readonly marks: readonly string[];
  /** The points of the matches; null without a result. */
  readonly points: number | null;
  readonly is_winner: boolean;
}

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

/** `GET /api/leagues/{league_id}/points?players=P01,P02`: the points of players over the rounds or over their matches. */
export interface PointsDocument extends LeagueDocument {
  /** The unit of the positions: rounds of the league, or matches of each player if the league plays several rounds at the same time. */
  readonly unit: "rounds" | "matches";
  /** The positions of the values, ascending from 0. A long league has at most MAX_POSITIONS of them. */
  readonly positions: readonly number[];
  /** The first players of the standings, and those that were asked for. */
  readonly series: readonly PointsSeries[];
  /** The number of players of the league. */
  readonly total: number;
}

export interface PointsSeries extends PlayerRef {
  readonly rank: number;
  /** The points at each position; shorter than the positions if the player has played fewer matches. */
  readonly values: readonly number[];
  /** The points in the standings. */
  readonly points: number;
}

/** The number of players with a colour. */
export const MAX_COLOURS = 6;

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

/** `GET /api/leagues/{league_id}/matches/{match_id}`: a match with its current frame. `…/frames` has the earlier frames. */
export interface MatchDocument extends LeagueDocument {
  readonly match: MatchRow & {
    /** The name of the round for people; null for none. */
    readonly round_label: string | null;
    readonly epoch: number;
    readonly clock: { readonly initial_ms: number; readonly increment_ms: number } | null;
  };
  /** The game as far as it does not change. Its `game_id` names the session: another one begins with other frames. Null if there is nothing to show. */
  readonly game: Replay["game"] | null;
  readonly current: NumberedFrame | null;
  /** Where the board comes from. Null for a match that has not begun. */
  readonly source: "referee" | "log" | null;
  /** The origin of the pages of the referee, at which the match is played; null if there are none. Announced by the referee. */
  readonly referee_pages: string | null;
  /** Why the board may be missing or out of date, in words; empty if it is current. */
  readonly problem: string;
  readonly faults: readonly FaultOfMatch[];
  /** The stored log of a completed match; null without one. */
  readonly log: LogOfMatch | null;
}

/** A frame with its number, from 0. */
interface NumberedFrame {
  readonly index: number;
  readonly frame: Frame;
}

/** Why a player lost by forfeit. */
export interface FaultOfMatch extends PlayerRef {
  readonly role: string;
  /** In words. */
  readonly cause: string;
  readonly detail: string;
  /** The player's answer as it was received. Untrusted. */
  readonly raw: string | null;
}

export interface LogOfMatch {
  readonly entries: number;
  /** The hash of the last entry that was recorded with the result. */
  readonly head: string;
  /** What the server has checked, and what it cannot check, in words. */
  readonly verified: string;
  readonly unverified: string;
  readonly is_proven: boolean;
  readonly has_pgn: boolean;
}

/** `GET …/frames?from=0&session=ID`: the frames of a session from a number, at most `FRAMES_OF_ANSWER`. */
export interface FramesDocument {
  readonly session: string;
  readonly from: number;
  readonly frames: readonly Frame[];
}

export const FRAMES_OF_ANSWER = 200;

/** `GET …/log?page=1`: the entries of the log with their hashes. */
export interface LogDocument extends PageOf {
  readonly entries: readonly LogEntry[];
}

export interface LogEntry {
  readonly seq: number;
  readonly type: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly role: string | null;
  readonly hash: string;
}

/** `GET /api/leagues/{league_id}/operator`: which actions the state of the league allows. It contains nothing that only the operator may know. */
export interface OperatorDocument extends LeagueDocument {
  readonly can: {
    readonly start: boolean;
    readonly pause: boolean;
    readonly resume: boolean;
    readonly end: boolean;
    readonly add_player: boolean;
    readonly remove_player: boolean;
    readonly change_matches: boolean;
  };
  /** The options of the format that can be raised now. */
  readonly extendable: readonly {
    readonly option: string;
    readonly text: string;
    readonly value: number;
    /** The number of matches that the league gets when the value is raised by one; null if it is not known. */
    readonly matches_each: number | null;
  }[];
  /** The roles of the game in words, one for each player of a match. */
  readonly roles: readonly string[];
}
