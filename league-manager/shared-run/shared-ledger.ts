import type { Cancel, Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { StoreBusy } from "#shared/store/store-errors.ts";
import type { Commit, Decide, Ledger, ManagerState } from "../ledger.ts";
import { LedgerCore, type LedgerOptions, type QueuedCommand } from "../store/ledger-core.ts";
import { addCommits, type KnownRun } from "./add-commits.ts";
import { type BatchAttempt, type DecidedCommand, decideAttempt } from "./attempt.ts";
import { DatabaseAnswers } from "./database-answers.ts";
import { CommitUnknown, DatabaseUnavailable, type LaterCommits, type RunDatabase } from "./run-database.ts";

interface SharedLedgerOptions extends LedgerOptions {
  readonly database: Pick<RunDatabase, "commitsAfter" | "transact" | "hasCommit" | "onCommits">;
  /** The state has the events of all commits up to `number`. It may have events of later ones, because other managers commit while it is loaded. */
  readonly loaded: LedgerOptions["loaded"] & { readonly number: number };
  readonly clock: LedgerOptions["clock"] & Pick<Clock, "after" | "every" | "pause">;
  readonly ids: Pick<Ids, "uuid">;
}

/** The maximum time that a command waits for the database. */
const MAX_WAIT_MS = 5_000;
/** The shortest time between two reads of later commits. All notifications within it cause one read. */
const READ_EVERY_MS = 10;
/** The interval of the check for late commands during a request to the database, which may take longer than `MAX_WAIT_MS`. */
const LATE_EVERY_MS = 500;

/**
 * The ledger of one of several managers. Each batch is one transaction under the lock of the run: it reads the commits of the other managers and decides
 * on the state after them, so all managers have the same order of events. While the database does not answer, commands wait; after five seconds
 * they are rejected with StoreBusy.
 */
export class SharedLedger implements Ledger {
  readonly #options: SharedLedgerOptions;
  readonly #core: LedgerCore;
  readonly #known: KnownRun;
  readonly #stopped = new AbortController();
  readonly #removeListener: () => void;
  readonly #answers = new DatabaseAnswers();
  #isReadDue = false;
  #cancelReading: Cancel = () => {};
  #readAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> = Promise.resolve();

  constructor(options: SharedLedgerOptions) {
    const { state, versions, number } = options.loaded;
    this.#options = options;
    this.#known = { state, versions, number, at: "" };
    this.#core = new LedgerCore(options, (commands) => {
      this.#running = this.#runBatch(commands);
      return this.#running;
    });
    this.#removeListener = options.database.onCommits(() => this.#readSoon());
    // The first reading adds the commits that were made while the state was loaded.
    this.#readSoon();
  }

  get state(): ManagerState {
    return this.#core.state;
  }

  execute<Reply>(decide: Decide<Reply>) {
    return this.#core.execute(decide);
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    return this.#core.onCommit(listener);
  }

  settled(): Promise<void> {
    return this.#core.settled();
  }

  /** The number of the newest commit in the state. */
  get commitNumber(): number {
    return this.#known.number;
  }

  /** Returns whether the database answers. */
  isAvailable(): boolean {
    return this.#answers.isAvailable(this.#options.clock.monotonic());
  }

  /** Stops reading, and rejects the waiting commands if the database does not answer. Resolves when the last request to it has ended. */
  async stop(): Promise<void> {
    this.#removeListener();
    this.#cancelReading();
    this.#stopped.abort();
    await this.#core.settled();
    await this.#running;
  }

  /** Reads the later commits soon, but not more often than every `READ_EVERY_MS`. */
  #readSoon(): void {
    const { clock } = this.#options;
    if (this.#isReadDue || this.#stopped.signal.aborted) return;
    this.#isReadDue = true;
    this.#cancelReading();
    this.#cancelReading = clock.after(Math.max(0, this.#readAt + READ_EVERY_MS - clock.monotonic()), () => {
      if (this.#isReadDue) this.#core.wake();
    });
  }

  async #runBatch(commands: readonly QueuedCommand[]): Promise<void> {
    const { clock } = this.#options;
    const cancel = clock.every(LATE_EVERY_MS, () => this.#rejectLate(commands));
    this.#answers.request(clock.monotonic());
    await this.#executeBatch(commands);
    cancel();
  }

  /** Executes commands in one transaction. Without commands it only reads the later commits. */
  async #executeBatch(commands: readonly QueuedCommand[]): Promise<void> {
    const { database, clock } = this.#options;
    this.#isReadDue = false;
    this.#readAt = clock.monotonic();
    const attempt: BatchAttempt = { commit: null, decided: [] };
    let caughtUp: Commit | null = null;
    const learn = (later: LaterCommits): void => {
      caughtUp = addCommits(this.#known, later, this.#options.leagueIds);
    };
    try {
      if (commands.length === 0) learn(await database.commitsAfter(this.#known.number));
      else {
        await database.transact(this.#known.number, (later) => {
          learn(later);
          return decideAttempt(attempt, commands, this.#known, this.#options);
        });
      }
    } catch (thrown) {
      // Commits that were read before the failure are committed.
      if (caughtUp) this.#core.publish(caughtUp);
      return this.#onFailure(thrown, commands, attempt);
    }
    this.#answers.answer();
    if (caughtUp) this.#core.publish(caughtUp);
    this.#onCommitted(attempt);
    if (attempt.decided.length < commands.length) this.#putBack(commands.slice(attempt.decided.length));
  }

  /** Makes the state after a committed batch the current one and answers its commands. */
  #onCommitted({ commit, decided }: BatchAttempt): void {
    if (commit) {
      const known = this.#known;
      const { state: before } = known;
      for (const { stream, expectedVersion, events } of commit.appends)
        known.versions.set(stream, expectedVersion + events.length);
      known.number++;
      known.at = commit.at;
      known.state = commit.batch.state;
      this.#core.publish({ before, state: known.state, events: commit.batch.events });
    }
    for (const { answer } of decided) answer();
  }

  async #onFailure(
    thrown: unknown,
    commands: readonly QueuedCommand[],
    { commit, decided }: BatchAttempt,
  ): Promise<void> {
    if (thrown instanceof CommitUnknown && commit) {
      this.#putBack(commands.slice(decided.length));
      return this.#findOut(commit.id, decided);
    }
    // Without a commit, a transaction whose end is unknown has changed nothing.
    const isUnavailable = thrown instanceof DatabaseUnavailable || thrown instanceof CommitUnknown;
    if (!isUnavailable) return this.#onFatal(thrown, commands);
    await this.#pause();
    this.#putBack(commands);
  }

  #onFatal(thrown: unknown, commands: readonly QueuedCommand[]): void {
    for (const { reject } of commands) reject(thrown);
    this.#options.onFatal(thrown instanceof Error ? thrown : new Error(String(thrown)));
  }

  /** Finds out whether a commit was made. If so, its commands are answered after its events are read. If not, they are decided again. */
  async #findOut(id: string, decided: readonly DecidedCommand[]): Promise<void> {
    const { database, leagueIds } = this.#options;
    const commands = decided.map(({ command }) => command);
    while (commands.some((command) => !this.#isLate(command))) {
      try {
        if (!(await database.hasCommit(id))) break;
        const caughtUp = addCommits(this.#known, await database.commitsAfter(this.#known.number), leagueIds);
        this.#answers.answer();
        if (caughtUp) this.#core.publish(caughtUp);
        for (const { answer } of decided) answer();
        return;
      } catch (thrown) {
        if (!(thrown instanceof DatabaseUnavailable)) return this.#onFatal(thrown, commands);
        await this.#pause();
      }
    }
    this.#putBack(commands);
  }

  /** Queues commands again that were not executed because of a failure or a full batch. The next batch, even an empty one, shows whether the database answers. */
  #putBack(commands: readonly QueuedCommand[]): void {
    this.#rejectLate(commands);
    this.#core.putBack(commands.filter((command) => !this.#isLate(command)));
    if (!this.#stopped.signal.aborted) this.#core.wake();
  }

  /** Waits after a failure, longer after each one. */
  async #pause(): Promise<void> {
    await this.#options.clock.pause(this.#answers.failure(), this.#stopped.signal);
  }

  /** Rejects the commands that have waited too long: those among `commands`, which are being executed, and those of the queue. */
  #rejectLate(commands: readonly QueuedCommand[]): void {
    const queued = this.#core.takeWhile((command) => this.#isLate(command));
    const late = commands.filter((command) => this.#isLate(command));
    for (const { reject } of [...late, ...queued]) reject(new StoreBusy("the database does not answer"));
  }

  /** Returns whether a command has waited too long. After `stop` every command has. */
  #isLate({ since }: QueuedCommand): boolean {
    return this.#stopped.signal.aborted || this.#options.clock.monotonic() - since >= MAX_WAIT_MS;
  }
}
