import type { Clock } from "#shared/lib/clock.ts";
import type { MachineAddresses } from "#shared/protocol/addresses.ts";
import type { Timeouts } from "#shared/protocol/timeouts.ts";
import type { Peers } from "#shared/rpc/peer.ts";
import type { Logger } from "#shared/runtime/logger.ts";
import type { League } from "../league/league.ts";
import type { OpenWork } from "../league/open-work.ts";
import type { Decide, Ledger } from "../ledger.ts";
import type { Failures } from "./failures.ts";

/** The manager's name in its messages. */
export const MANAGER_SENDER = "league_manager:LM01";

/** What the effects are given. */
export interface EffectsContext {
  readonly ledger: Ledger;
  readonly peers: Peers;
  readonly clock: Clock;
  /** The present addresses of this machine. */
  readonly machineAddresses: () => MachineAddresses;
  readonly log: Logger;
  /** A line for people, on the terminal and on the page. */
  readonly notice: (message: string) => void;
  readonly failures: Failures;
  /**
   * Gives a command of a league. Never rejects: an error of the store is a failure of the league, and a rejection means that the state has changed in
   * the meantime, so the next pass does what is due then.
   */
  readonly execute: (leagueId: string, decide: Decide<unknown>) => Promise<void>;
  readonly timeouts: Timeouts;
  /** Asks for another pass over the open work: something has changed that no commit shows, e.g. a referee answers again. */
  readonly wake: () => void;
}

/** One kind of effect. */
export interface Part {
  /**
   * Starts what the open work of a league needs and what is not under way. Called for each league at start-up, after each commit and after
   * each `wake`. Returns at once; what it starts reports its own errors.
   */
  reconcile(league: League, work: OpenWork): void;
  /** Ends every timer and task; resolves when nothing of this part runs any more. */
  stop(): Promise<void>;
}
