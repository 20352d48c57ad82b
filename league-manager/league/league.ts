import type { NewRound } from "#shared/formats/format.ts";
import { hmacBase64Url } from "#shared/lib/hash.ts";
import type { SharedList } from "#shared/lib/list.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { matchSeed } from "#shared/session/match-seed.ts";
import type { LeagueEvent, MatchSummary, ReleaseReason } from "./events.ts";

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

/** The id of the league of the config whose settings a league has. Some of them are in the config only, such as `move_ms` and `max_players`. */
export const configIdOf = ({ leagueId, like }: Pick<LeagueSettings, "leagueId" | "like">): string => like ?? leagueId;

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

/** The commands to a league. `decideLeague` returns the events of a command or rejects it. */
export type LeagueCommand =
  /** Opens the league, or applies a changed config to an open league. Without a change it has no events. */
  | { readonly type: "open"; readonly settings: LeagueSettings }
  /** Enters a player. A running league accepts it only with late entries, or from the operator. */
  | { readonly type: "enter"; readonly playerId: string; readonly nameCommitment: string; readonly byOperator?: true }
  /**
   * Removes a player from an open league. In a running league the format pairs the player no more; `agentVersion` is then the version of the player's
   * stream at which it was shut down.
   */
  | { readonly type: "leave"; readonly playerId: string; readonly agentVersion?: number }
  /** Closes the registration and pairs the first rounds. `seed` is the seed of the league. */
  | { readonly type: "start"; readonly seed: Seed }
  /**
   * Pairs the next rounds. `seed` is the seed of the league, `slots` the number of matches that can be started now. Without a new round it has no
   * events.
   */
  | { readonly type: "pair"; readonly seed: Seed; readonly slots: number }
  /** Opens the current round. */
  | {
      readonly type: "open_round";
      readonly roundId: number;
      /** The players that are shut down: versions of their streams by player id. */
      readonly shutDown: ReadonlyMap<string, number>;
      /** The ids in `shutDown` of the players that the operator removed. */
      readonly removed?: ReadonlySet<string>;
    }
  | { readonly type: "announce_round"; readonly roundId: number }
  | { readonly type: "schedule"; readonly roundId: number; readonly players: readonly string[] }
  | { readonly type: "assign"; readonly matchId: string; readonly epoch: number; readonly refereeId: string }
  /** Takes an assigned match from its referee. */
  | {
      readonly type: "release";
      readonly matchId: string;
      readonly epoch: number;
      readonly reason: "unreachable" | "refused" | "overdue";
      readonly detail: string;
    }
  /** Records the result that a referee reports. `seed` is the seed of the match under the epoch of the result. */
  | { readonly type: "report"; readonly result: MatchResult; readonly refereeId: string; readonly seed: string }
  | {
      readonly type: "settle_withdrawal";
      readonly matchId: string;
      readonly epoch: number;
      readonly refereeId: string;
    }
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  /** Raises extendable options of the format, such as the number of rounds. */
  | { readonly type: "extend"; readonly formatOptions: Readonly<Record<string, unknown>> }
  /** Ends the league with the standings so far: its matches that are not completed are cancelled. */
  | { readonly type: "end" }
  /** Makes a match count for no player. It is rejected if later pairings depend on the match. */
  | { readonly type: "annul"; readonly matchId: string; readonly reason: string }
  /** Ends a round whose time is over. */
  | { readonly type: "expire_round"; readonly roundId: number }
  | { readonly type: "complete" };

/**
 * The rule for players that enter after the start. `forfeit`: they play the rounds that are paired later. `makeup`: in a round robin they also play the
 * matches that they have missed.
 */
type LateEntry = "closed" | "forfeit" | "makeup";

/** The properties of a league that the config and the run determine. */
export interface LeagueSettings {
  readonly leagueId: string;
  /** The league of the config whose settings the league has; null for a league of the config. */
  readonly like: string | null;
  readonly runId: string;
  readonly game: string;
  readonly roles: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  /** The clocks of its matches; null for matches without clocks. */
  readonly clock: TimeControl | null;
  /** The id of the format. */
  readonly format: string;
  /** The options of the format as in the config. */
  readonly formatOptions: Readonly<Record<string, unknown>>;
  /** The tie-breaks of the standings; null for those of the format. */
  readonly tieBreaks: readonly string[] | null;
  /** The player ids of each team; null if each player plays for itself. */
  readonly teams: readonly (readonly string[])[] | null;
  /** Options of the game, one record for each round in turn, which take precedence over those of the league; null for none. */
  readonly openings: readonly Readonly<Record<string, unknown>>[] | null;
  readonly lateEntry: LateEntry;
  /** The time before which the league does not start, ISO 8601; null for none. */
  readonly startsAt: string | null;
  /** The time within which the matches of a round must be completed; null for no limit. */
  readonly roundMs: number | null;
  readonly seedCommitment: string;
}

/** `Omit` of each member of a union. */
export type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** An event without its time and its format version. */
export type NewLeagueEvent = DistributiveOmit<LeagueEvent, "v" | "at">;

/** The id of a match, unique within its league. `index` is its index in its round, from 0. */
export const matchIdOf = (roundId: number, index: number): string => `R${roundId}M${index + 1}`;

/** The round of a match and its index in it, from the id of the match; null for any other text. */
export function positionOf(matchId: string): { readonly roundId: number; readonly index: number } | null {
  const [, roundId, number] = /^R([1-9]\d*)M([1-9]\d*)$/.exec(matchId) ?? [];
  return number === undefined ? null : { roundId: Number(roundId), index: Number(number) - 1 };
}

/** One round of a schedule, in the form of the event `round_paired`. */
export interface PairedRound {
  /** The number of the round, from 1. */
  readonly round_id: number;
  readonly pairings: readonly PairedMatch[];
  /** The players without a match in this round. */
  readonly byes: readonly string[];
  readonly label?: string;
}

/** The players of a match, in the order of the game's roles. */
interface PairedMatch {
  readonly match_id: string;
  readonly players: readonly string[];
  /** Options of the game for this match. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** Numbers new rounds and their matches. `pairedRounds` is the number of rounds that the league has. */
export const numbered = (rounds: readonly NewRound[], pairedRounds = 0): readonly PairedRound[] =>
  rounds.map(({ pairings, byes, label }, index) => {
    const round_id = pairedRounds + index + 1;
    return {
      round_id,
      pairings: pairings.map((players, position) => ({ match_id: matchIdOf(round_id, position), players })),
      byes,
      ...(label !== undefined && { label }),
    };
  });

/** The seed of a league as commands need it. A function is called when the format reads the seed; it may throw. */
export type Seed = string | (() => string);

/** The seed of a league: the HMAC of its id with the seed of the run as the key. It is secret until the league completes. */
export const leagueSeed = (runSeed: string, leagueId: string): string => hmacBase64Url(runSeed, leagueId);

/** The seed of a match under an epoch, derived from the seed of its league. */
export const seedOfMatch = (seedOfLeague: string, leagueId: string, matchId: string, epoch: number): string =>
  matchSeed({ seed: seedOfLeague, seedRule: "per_league" }, leagueId, matchId, epoch);

/** Returns a function that derives the seed of each match of a run. */
export const matchSeeds =
  (runSeed: string) =>
  (leagueId: string, matchId: string, epoch: number): string =>
    seedOfMatch(leagueSeed(runSeed, leagueId), leagueId, matchId, epoch);
