import type { DistributiveOmit } from "#shared/lib/distributive-omit.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import type { LeagueEvent } from "./events.ts";

/** The commands to a league. `decide` accepts a command with events or rejects it. */
export type LeagueCommand =
  /** Opens the league, or takes over a changed config while it is open. No events when nothing has changed. */
  | { readonly type: "open"; readonly settings: LeagueSettings }
  | { readonly type: "enter"; readonly playerId: string; readonly nameCommitment: string }
  /** Takes a player out of an open league. A player of a running one stays in it: its later matches are forfeited. */
  | { readonly type: "leave"; readonly playerId: string }
  /** Closes the registration and pairs every round. */
  | { readonly type: "start" }
  /** Opens the current round. */
  | {
      readonly type: "open_round";
      readonly roundId: number;
      /** Of all players who are shut down: player id to the version of its stream. */
      readonly shutDown: ReadonlyMap<string, number>;
      /** Those of them that the operator removed. */
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
  /** A referee reports a result. `seed` is the seed of the match under the result's epoch. */
  | { readonly type: "report"; readonly result: MatchResult; readonly refereeId: string; readonly seed: string }
  | {
      readonly type: "settle_withdrawal";
      readonly matchId: string;
      readonly epoch: number;
      readonly refereeId: string;
    }
  | { readonly type: "complete" };

/** The properties of a league that the config and the run determine. */
export interface LeagueSettings {
  readonly leagueId: string;
  readonly runId: string;
  readonly game: string;
  readonly roles: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly format: "round-robin";
  readonly seedCommitment: string;
}

/** An event before it has a time and a format version. */
export type NewLeagueEvent = DistributiveOmit<LeagueEvent, "v" | "at">;
