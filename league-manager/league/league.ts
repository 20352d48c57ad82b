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
  /** From 1; increased each time the match is taken from a referee. */
  readonly epoch: number;
  /** The referee of the current epoch; of a completed match the one that reported it. Null when there is none. */
  readonly refereeId: string | null;
  /** When the match was assigned under the current epoch, ISO 8601; null unless assigned. */
  readonly assignedAt: string | null;
  /** How often it was aborted through no fault of its players. */
  readonly aborts: number;
  /** Null unless completed. */
  readonly outcome: Outcome | null;
  /** The hash of the last entry of the session log; empty for a match without a log, null unless completed. */
  readonly logHead: string | null;
}

/** The result of a match by seats: matches of different players with equal results share one outcome. */
export interface Outcome {
  /** The seat of the winner; null when there is none, or a team has won. */
  readonly winner: number | null;
  /** Empty when the result has no scores. */
  readonly scores: readonly number[];
  /** Empty for an aborted match. */
  readonly points: readonly number[];
  readonly termination: Termination;
  readonly reason: string;
  readonly faults: readonly MatchFault[];
}

export interface Round {
  readonly roundId: number;
  readonly matches: readonly Match[];
  readonly byes: readonly string[];
  /** Matches that are not completed. */
  readonly open: number;
  readonly isOpened: boolean;
  readonly isAnnounced: boolean;
}

/** A match that was taken from a referee, which may still play it: the referee is informed until it acknowledges. */
export interface Withdrawal {
  readonly matchId: string;
  readonly epoch: number;
  readonly refereeId: string;
}

/** One league: the fold of its events. Never changed in place. */
export interface League extends LeagueSettings {
  readonly version: number;
  readonly status: "open" | "running" | "completed";
  /** Player id to the commitment of the display name, in the order of entry. */
  readonly entrants: ReadonlyMap<string, string>;
  /** `rounds[i].roundId` is i + 1. */
  readonly rounds: readonly Round[];
  /** The lowest round with a match that is not completed; null before the start and when all are completed. */
  readonly currentRound: number | null;
  readonly withdrawals: readonly Withdrawal[];
  readonly matchCount: number;
  readonly completedCount: number;
}

/** The matches of the current round; none before the start and after the last match. */
export const currentMatches = ({ rounds, currentRound }: Pick<League, "rounds" | "currentRound">): readonly Match[] =>
  currentRound === null ? [] : (rounds[currentRound - 1]?.matches ?? []);
