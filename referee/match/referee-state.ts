import type { StartGame } from "#shared/protocol/messages.ts";
import type { HostedDriver } from "./driven-match.ts";
import type { MatchSessions } from "./match-sessions.ts";
import type { MatchTable } from "./match-table.ts";
import type { ReportOptions } from "./report.ts";
import type { Withdrawals } from "./withdrawals.ts";

export interface RefereeOptions extends ReportOptions {
  readonly driver: HostedDriver;
  readonly matches: MatchTable;
  /** Called after match tokens of seats have changed in the database. */
  readonly onTokensChanged?: () => void;
}

/** A match under way. Aborting `withdraw` stops it. */
export interface Running {
  readonly order: StartGame;
  readonly sessionId: string;
  readonly withdraw: AbortController;
}

/** The matches of a referee. */
export interface RefereeState {
  readonly options: RefereeOptions;
  /** The matches under way, by `league_id/match_id`. */
  readonly running: Map<string, Running>;
  readonly sessions: MatchSessions;
  readonly withdrawals: Withdrawals;
  isStopped: boolean;
}

/** The reason of a session whose match was withdrawn. */
export const WITHDRAWN = "the match was assigned to another referee";
