import type { SharedList } from "#shared/lib/list.ts";
import type { LeagueSettings } from "./commands.ts";
import type { MatchSummary, ReleaseReason } from "./events.ts";

export type Termination = MatchSummary["termination"];
export type MatchFault = MatchSummary["faults"][number];

export interface Match {
  readonly matchId: string;
  readonly roundId: number;
  /** Player ids in the order of the league's roles. */
  readonly players: readonly string[];
  /** Options of the game for this match, which take precedence over those of the league; null for none. */
  readonly options: Readonly<Record<string, unknown>> | null;
  readonly status: "scheduled" | "assigned" | "completed";
  /** The number of the attempt, from 1. It is raised each time the match is taken from a referee. */
  readonly epoch: number;
  /** The referee of the current epoch, or the one that reported the result; null if there is none. */
  readonly refereeId: string | null;
  /** The time of the assignment under the current epoch, ISO 8601; null unless assigned. */
  readonly assignedAt: string | null;
  /** The number of times that it was aborted or overdue. */
  readonly aborts: number;
  /** Why the match was last taken from a referee, which begins the current epoch; null in the first one. */
  readonly lastRelease: { readonly reason: ReleaseReason; readonly refereeId: string } | null;
  /** Null unless completed. */
  readonly outcome: Outcome | null;
  /** The hash of the last entry of the session log; empty for a match without a log, null unless completed. */
  readonly logHead: string | null;
}

/** The result of a match by seats, so that matches of different players with equal results share one outcome. */
export interface Outcome {
  /** The index of the winner's seat; null without a winner, or if a team has won. */
  readonly winner: number | null;
  /** Scores by seat; empty if the result has no scores. */
  readonly scores: readonly number[];
  /** Points by seat; empty for an aborted or cancelled match. */
  readonly points: readonly number[];
  readonly termination: Termination;
  readonly reason: string;
  readonly faults: readonly MatchFault[];
}

export interface Round {
  readonly roundId: number;
  /** The name of the round for people; null for none. */
  readonly label: string | null;
  readonly matches: readonly Match[];
  readonly byes: readonly string[];
  /** The number of matches that are not completed. */
  readonly open: number;
  readonly isOpened: boolean;
  readonly isAnnounced: boolean;
  /** The time at which the round was opened, ISO 8601; null before. */
  readonly openedAt: string | null;
  /** Whether the time of the round was over before its last match was completed. */
  readonly isExpired: boolean;
}

/** The record that a match was taken from a referee that may still play it and has not acknowledged MATCH_WITHDRAWN. */
export interface Withdrawal {
  readonly matchId: string;
  readonly epoch: number;
  readonly refereeId: string;
}

/** One league: the fold of its events. Never changed in place. */
export interface League extends LeagueSettings {
  readonly version: number;
  readonly status: "open" | "running" | "completed";
  /** The commitments to display names by player id, in the order of entry. */
  readonly entrants: ReadonlyMap<string, string>;
  /** The number of rounds that were paired when a player entered, for the players that entered after the start. */
  readonly lateEntries: Readonly<Record<string, number>>;
  /** Whether the operator has paused the league: no match is assigned, and no round is paired or opened. */
  readonly isPaused: boolean;
  /** The time of the last resumption, ISO 8601; null if the league was not paused. */
  readonly resumedAt: string | null;
  /** The number of annulled matches. */
  readonly annulledCount: number;
  /** The players that have left after the start. */
  readonly departed: readonly string[];
  /** The round with the id n has the index n − 1. */
  readonly rounds: SharedList<Round>;
  /** The lowest round with a match that is not completed; null before the start and when all matches are completed. */
  readonly currentRound: number | null;
  /** The opened rounds with matches that are not completed, in the order of their opening. At most one, unless the format opens its rounds at once. */
  readonly openRounds: readonly number[];
  /** Whether the format adds no more rounds. */
  readonly isPairingComplete: boolean;
  /** Whether the operator has ended the league. */
  readonly isEnded: boolean;
  readonly withdrawals: readonly Withdrawal[];
  /** The number of matches that occupy each referee: assigned ones, and withdrawn ones that it has not acknowledged. Referees without one are absent. */
  readonly occupied: ReadonlyMap<string, number>;
  readonly matchCount: number;
  readonly completedCount: number;
}

/** The round of an id; undefined if there is none. */
export const roundOf = (league: Pick<League, "rounds"> | null | undefined, roundId: number): Round | undefined =>
  roundId > 0 ? league?.rounds.at(roundId - 1) : undefined;

/** The matches of the opened rounds that are not completed. */
export const currentMatches = ({ rounds, openRounds }: Pick<League, "rounds" | "openRounds">): readonly Match[] =>
  openRounds.flatMap((roundId) => (roundOf({ rounds }, roundId) as Round).matches);

/** The options of the game for a match. */
export const optionsOf = (
  league: Pick<League, "options">,
  match: Pick<Match, "options">,
): Readonly<Record<string, unknown>> => (match.options ? { ...league.options, ...match.options } : league.options);

/**
 * The time at which a round ends, in milliseconds since 1970; null if it has no end now. A round has its whole time again after the league was resumed.
 */
export function endOfRound(
  {
    roundMs,
    isPaused,
    resumedAt,
    status,
    rounds,
  }: Pick<League, "roundMs" | "isPaused" | "resumedAt" | "status" | "rounds">,
  roundId: number,
): number | null {
  const round = roundOf({ rounds }, roundId);
  if (roundMs === null || !round?.openedAt || round.isExpired || isPaused || status !== "running") return null;
  return Math.max(Date.parse(round.openedAt), resumedAt === null ? 0 : Date.parse(resumedAt)) + roundMs;
}
