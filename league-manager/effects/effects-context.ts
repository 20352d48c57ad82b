import type { Clock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import { Unavailable } from "#shared/lib/unavailable.ts";
import type { MachineAddresses } from "#shared/protocol/addresses.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { Timeouts } from "#shared/protocol/message-fields.ts";
import type { DialectPeers } from "#shared/rpc/dialects/dialect-peers.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import type { Agent } from "../agents/registered-agent.ts";
import type { League } from "../league/league.ts";
import type { OpenWork } from "../league/open-work.ts";
import type { Decide, Ledger } from "../ledger.ts";

/** The sender of the manager's messages. */
export const MANAGER_SENDER = "league_manager:LM01";

/** The time limits for a move, in milliseconds. The limit of a player takes precedence over that of its league. */
export interface MoveLimits {
  /** `configId` is the result of `configIdOf`. */
  ofLeague(configId: string): number;
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

/**
 * The leagues that this manager has to run: it starts them, pairs and opens their rounds, announces them, and settles their withdrawals. Each league
 * has one such manager. Two for a moment do no harm, because commands are decided by the log and messages have derived ids.
 */
export interface Duties {
  ownsLeague(leagueId: string): boolean;
  /** Adds a listener that is called after the leagues have changed. Returns the function that removes it. */
  onChange(listener: () => void): () => void;
}

/** The duties of the only manager of a run. */
export const ALL_DUTIES: Duties = { ownsLeague: () => true, onChange: () => () => {} };

/** Reports errors of effects. An error of one league does not affect the other leagues. */
export interface Failures {
  /** Logs an error of this program or of the store. Sends a notice unless the previous error of the league had the same message. */
  ofLeague(leagueId: string, thrown: unknown): void;
  /**
   * Logs the rejection of an effect's command at the level debug: it is expected if the state has changed since the effect started. The first
   * repetition of a rejection is logged as a warning.
   */
  ofCommand(leagueId: string, error: ProtocolError): void;
  /** Logs an error that does not concern a single league. */
  other(thrown: unknown, message: string): void;
}

/** The maximum number of different rejections of one league that are counted. */
const MAX_REJECTIONS = 100;

export function createFailures(log: Logger, notice: (message: string) => void): Failures {
  const lastMessage = new Map<string, string>();
  /** The number of rejections by league id and message. */
  const rejections = new Map<string, Map<string, number>>();
  return {
    ofLeague(leagueId, thrown) {
      const message = messageOf(thrown);
      // The effect is repeated, so the league continues when its store answers again.
      const waits = thrown instanceof Unavailable;
      if (waits) log.warn({ reason: message, league: leagueId }, "a league waits");
      else log.error({ err: thrown, league: leagueId }, "a league cannot continue");
      if (lastMessage.get(leagueId) === message) return;
      lastMessage.set(leagueId, message);
      notice(`${leagueId} ${waits ? "waits" : "cannot continue"}: ${message}`);
    },
    ofCommand(leagueId, error) {
      const current = rejections.get(leagueId);
      const counts = current && current.size < MAX_REJECTIONS ? current : new Map<string, number>();
      rejections.set(leagueId, counts);
      const count = (counts.get(error.message) ?? 0) + 1;
      counts.set(error.message, count);
      // Another manager has used the free capacity of a referee, or given a player of another dialect a match. The next pass tries again.
      const isFull = error.error_code === "G005" && error.retryable;
      const level = count === 2 && !isFull ? "warn" : "debug";
      log[level]({ league: leagueId, error }, "a command of an effect was rejected");
    },
    other: (thrown, message) => log.error({ err: thrown }, message),
  };
}

/** Runs asynchronous tasks, at most one for each key at the same time. */
export class Tasks {
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopped = new AbortController();

  /** Aborted when the tasks are stopped. */
  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Starts `run`, unless a task of this key is running or the tasks are stopped. The promise of `run` must not reject. */
  start(key: string, run: (signal: AbortSignal) => Promise<void>): void {
    if (this.#stopped.signal.aborted || this.#running.has(key)) return;
    const task = run(this.#stopped.signal).finally(() => this.#running.delete(key));
    this.#running.set(key, task);
  }

  /** Aborts the signal. Resolves when all tasks have ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#running.values());
  }
}
