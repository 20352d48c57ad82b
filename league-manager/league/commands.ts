import type { TimeControl } from "#shared/lib/time-control.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import type { LeagueEvent } from "./events.ts";
import type { Seed } from "./seeds.ts";

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
