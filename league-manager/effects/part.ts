import type { Clock } from "#shared/lib/clock.ts";
import type { MachineAddresses } from "#shared/protocol/addresses.ts";
import type { Timeouts } from "#shared/protocol/timeouts.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import type { League } from "../league/league.ts";
import type { OpenWork } from "../league/open-work.ts";
import type { Decide, Ledger } from "../ledger.ts";
import type { Failures } from "./failures.ts";

/** The manager's name in its messages. */
export const MANAGER_SENDER = "league_manager:LM01";

/** What the effects are given by the service. */
export interface EffectsDependencies {
  readonly ledger: Ledger;
  readonly peers: Peers;
  readonly clock: Clock;
  /** The present addresses of this machine. */
  readonly machineAddresses: () => MachineAddresses;
  readonly log: Logger;
  /** A line for people, on the terminal and on the page. */
  readonly notice: (message: string) => void;
  readonly timeouts: Timeouts;
}

/** The context that all parts of the effects share. */
export interface EffectsContext extends EffectsDependencies {
  readonly failures: Failures;
  /**
   * Executes a command of a league. The promise never rejects: an error of the store is reported as a failure of the league. A rejected
   * command means that the state has changed in the meantime; the next pass derives the work that is due then.
   */
  readonly execute: (leagueId: string, decide: Decide<unknown>) => Promise<void>;
  /** Requests another pass over the open work, after a change that is not committed, e.g. a referee answers again. */
  readonly wake: () => void;
}

/** One kind of effect. */
export interface Part {
  /**
   * Starts the open work of a league that is not under way. Called for each league at start-up, after each commit and after each `wake`.
   * Returns immediately; the started work reports its errors.
   */
  reconcile(league: League, work: OpenWork): void;
  /** Ends every timer and task; resolves when nothing of this part runs any more. */
  stop(): Promise<void>;
}
