import type { Clock } from "#shared/lib/clock.ts";
import type { MachineAddresses } from "#shared/protocol/addresses.ts";
import type { Timeouts } from "#shared/protocol/message-fields.ts";
import type { DialectPeers } from "#shared/rpc/dialects/dialect-peers.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import type { Agent } from "../agents/agent.ts";
import type { League } from "../league/league.ts";
import type { OpenWork } from "../league/open-work.ts";
import type { Decide, Ledger } from "../ledger.ts";
import type { Failures } from "./failures.ts";

/** The sender of the manager's messages. */
export const MANAGER_SENDER = "league_manager:LM01";

/** The time limits for a move, in milliseconds. The limit of a player takes precedence over that of its league. */
export interface MoveLimits {
  ofLeague(leagueId: string): number;
  /** Returns undefined if the player with this name has no separate limit. */
  ofPlayer(name: string): number | undefined;
}

/** Returns the endpoint of a player as a referee can call it. */
export type EndpointFor = (referee: Agent, endpoint: string) => string;

/** The dependencies of the effects that the service provides. */
export interface EffectsDependencies {
  readonly ledger: Ledger;
  readonly peers: DialectPeers;
  readonly clock: Clock;
  /** The current addresses of this machine. */
  readonly machineAddresses: () => MachineAddresses;
  readonly log: Logger;
  /** Sends a line for people, e.g. to the terminal. */
  readonly notice: (message: string) => void;
  /** The seed of a league, which is secret until the league completes. */
  readonly leagueSeedOf: (leagueId: string) => string;
  readonly timeouts: Timeouts;
  readonly moveLimits: MoveLimits;
  readonly endpointFor: EndpointFor;
}

/** The context that all parts of the effects share. */
export interface EffectsContext extends EffectsDependencies {
  readonly failures: Failures;
  /**
   * Executes a command of a league. The promise never rejects: an error of the store is reported as a failure of the league. A command is rejected
   * if the state has changed since the effect started; the next pass derives the open work from the new state.
   */
  readonly execute: (leagueId: string, decide: Decide<unknown>) => Promise<void>;
  /** Requests another pass over the open work after a change that is not a commit, e.g. when a referee answers again. */
  readonly wake: () => void;
}

/** A part of the effects, which handles one kind of open work. */
export interface Part {
  /** `league`: it works on the leagues that this manager owns. `match`: it sees in each league the matches whose jobs this manager holds. */
  readonly duty: "league" | "match";
  /**
   * Starts the open work of a league that is not running yet. Called for each league at the start, after each commit and after each `wake`. Returns
   * immediately. The started work reports its errors.
   */
  reconcile(league: League, work: OpenWork): void;
  /** Cancels the timers and tasks of this part. Resolves when all of them have ended. */
  stop(): Promise<void>;
}
