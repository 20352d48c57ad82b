import { type Clock, throwLater } from "#shared/lib/clock.ts";
import type { Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { Commit, Decide, FollowUps, Ledger, ManagerState } from "../ledger.ts";
import type { PendingCommand } from "./decide-commands.ts";
import type { Loaded } from "./load-state.ts";

/** The options of every ledger. */
export interface LedgerOptions {
  /** The state that was loaded from the store. */
  readonly loaded: Pick<Loaded, "state" | "versions">;
  readonly clock: Pick<Clock, "iso" | "monotonic" | "nextTurn" | "defer">;
  /** The league ids of the config, in its order. */
  readonly leagueIds: readonly string[];
  /** The commands that follow from a change of the state (default: none). */
  readonly followUps?: FollowUps;
  /** Called when the log cannot be continued, because the memory may then differ from it. */
  readonly onFatal: (error: Error) => void;
}

/** A command in the queue of a ledger. */
export interface QueuedCommand extends PendingCommand {
  /** The time of `Clock.monotonic` at which it was passed to the ledger. */
  readonly since: number;
}

/** The maximum number of commands of one batch. They are decided in one turn of the event loop, so other work waits for them. */
const MAX_BATCH_COMMANDS = 100;

/**
 * The part of a ledger that does not depend on its database: the queue of commands, the committed state and the listeners. `executeBatch` executes and
 * answers commands; its promise does not reject.
 */
export class LedgerCore implements Ledger {
  readonly #clock: LedgerOptions["clock"];
  readonly #executeBatch: (commands: readonly QueuedCommand[]) => Promise<void>;
  #state: ManagerState;
  readonly #queue: QueuedCommand[] = [];
  readonly #listeners = new Set<(commit: Commit) => void>();
  #isRunning = false;
  #isWoken = false;
  /** The answer to the last command. Commands are answered in order. */
  #lastAnswer: Promise<unknown> = Promise.resolve();

  constructor({ loaded, clock }: LedgerOptions, executeBatch: (commands: readonly QueuedCommand[]) => Promise<void>) {
    this.#clock = clock;
    this.#state = loaded.state;
    this.#executeBatch = executeBatch;
  }

  get state(): ManagerState {
    return this.#state;
  }

  execute<Reply>(decide: Decide<Reply>): Promise<Result<Reply, ProtocolError>> {
    const answer = new Promise<Result<Reply, ProtocolError>>((resolve, reject) => {
      const since = this.#clock.monotonic();
      this.#queue.push({ decide, resolve: resolve as PendingCommand["resolve"], reject, since });
    });
    this.#lastAnswer = answer;
    if (!this.#isRunning) void this.#run();
    return answer;
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async settled(): Promise<void> {
    await Promise.allSettled([this.#lastAnswer]);
  }

  /** Executes a batch soon, without commands if there are none. */
  wake(): void {
    this.#isWoken = true;
    if (!this.#isRunning) void this.#run();
  }

  /** Puts commands that are not answered before all others in the queue. */
  putBack(commands: readonly QueuedCommand[]): void {
    this.#queue.unshift(...commands);
  }

  /** Removes commands from the front of the queue as long as `isTaken` returns true. Returns them. */
  takeWhile(isTaken: (command: QueuedCommand) => boolean): readonly QueuedCommand[] {
    const index = this.#queue.findIndex((command) => !isTaken(command));
    return this.#queue.splice(0, index < 0 ? this.#queue.length : index);
  }

  /** Makes a committed state the current one and calls the listeners. An error of a listener is thrown later, because the events are committed. */
  publish(commit: Commit): void {
    this.#state = commit.state;
    for (const listener of [...this.#listeners]) {
      try {
        listener(commit);
      } catch (thrown) {
        throwLater(this.#clock, thrown);
      }
    }
  }

  /** Executes the queue in batches. A batch has the commands of one turn of the event loop, or those that arrived during a commit. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    await this.#clock.nextTurn();
    while (this.#queue.length > 0 || this.#isWoken) {
      this.#isWoken = false;
      await this.#executeBatch(this.#queue.splice(0, MAX_BATCH_COMMANDS));
      await this.#clock.nextTurn();
    }
    this.#isRunning = false;
  }
}
