import type { LeagueSettings } from "./commands.ts";
import type { MatchSummary } from "./events.ts";

export type Termination = MatchSummary["termination"];
export type MatchFault = MatchSummary["faults"][number];

export interface Match {
  readonly matchId: string;
  readonly roundId: number;
  /** Player ids in the order of the league's roles. */
  readonly players: readonly string[];
  readonly status: "scheduled" | "assigned" | "completed";
  /** The number of the attempt, from 1. It is raised each time the match is taken from a referee. */
  readonly epoch: number;
  /** The referee of the current epoch, or the one that reported the result; null if there is none. */
  readonly refereeId: string | null;
  /** The time of the assignment under the current epoch, ISO 8601; null unless assigned. */
  readonly assignedAt: string | null;
  /** The number of times that it was aborted or overdue. */
  readonly aborts: number;
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
  /** Points by seat; empty for an aborted match. */
  readonly points: readonly number[];
  readonly termination: Termination;
  readonly reason: string;
  readonly faults: readonly MatchFault[];
}

export interface Round {
  readonly roundId: number;
  readonly matches: readonly Match[];
  readonly byes: readonly string[];
  /** The number of matches that are not completed. */
  readonly open: number;
  readonly isOpened: boolean;
  readonly isAnnounced: boolean;
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
  /** `rounds[i].roundId` is i + 1. */
  readonly rounds: readonly Round[];
  /** The lowest round with a match that is not completed; null before the start and when all matches are completed. */
  readonly currentRound: number | null;
  readonly withdrawals: readonly Withdrawal[];
  readonly matchCount: number;
  readonly completedCount: number;
}

/** The matches of the current round; empty before the start and after the last match. */
export const currentMatches = ({ rounds, currentRound }: Pick<League, "rounds" | "currentRound">): readonly Match[] =>
  currentRound === null ? [] : (rounds[currentRound - 1]?.matches ?? []);
