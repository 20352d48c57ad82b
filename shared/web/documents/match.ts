import type { Frame, Replay } from "../replay-view.ts";
import type { LeagueDocument, MatchRow, PageOf, PlayerRef } from "./league.ts";

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
