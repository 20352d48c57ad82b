import type { Cancel, Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { StoreBusy } from "#shared/store/store-errors.ts";
import type { Commit, Decide, Ledger, ManagerState } from "../ledger.ts";
import { jobChanges } from "../queue/job-changes.ts";
import { type Batch, isEmpty, newBatch } from "../store/batch.ts";
import { type Answer, decideCommands } from "../store/decide-commands.ts";
import { LedgerCore, type LedgerOptions, type QueuedCommand } from "../store/ledger-core.ts";
import { DatabaseAnswers } from "./database-answers.ts";
import { addNews, type Known } from "./news.ts";
import { CommitUnknown, DatabaseUnavailable, type NewCommit, type News, type RunDatabase } from "./run-database.ts";

interface SharedLedgerOptions extends LedgerOptions {
  readonly database: Pick<RunDatabase, "news" | "transact" | "hasCommit" | "onNews">;
  /** The state has the events of all commits up to `number`. It may have events of later ones, because other managers commit while it is loaded. */
  readonly loaded: LedgerOptions["loaded"] & { readonly number: number };
  readonly clock: LedgerOptions["clock"] & Pick<Clock, "after" | "every" | "pause">;
  readonly ids: Pick<Ids, "uuid">;
}

/** The maximum time that a command waits for the database. */
const MAX_WAIT_MS = 5_000;
/** The shortest time between two reads of news. All notifications within it cause one read. */
const NEWS_EVERY_MS = 10;
/** The interval of the check for late commands during a request to the database, which may take longer than `MAX_WAIT_MS`. */
const LATE_EVERY_MS = 500;

/** A command of a batch and its answer, which is given after the commit. */
interface Decided {
  readonly command: QueuedCommand;
  readonly answer: Answer;
}

/** A batch that was decided in a transaction. */
interface Attempt {
  /** The commit of the batch; null if it has no events and no writes. */
  commit: (NewCommit & { readonly batch: Batch }) | null;
  decided: readonly Decided[];
}

/**
 * The ledger of one of several managers. Each batch is one transaction under the lock of the run: it reads the commits of the other managers and decides
 * on the state after them, so all managers have the same order of events. While the database does not answer, commands wait; after five seconds
 * they are rejected with StoreBusy.
 */
export class SharedLedger implements Ledger {
  readonly #options: SharedLedgerOptions;
  readonly #core: LedgerCore;
  readonly #known: Known;
  readonly #stopped = new AbortController();
  readonly #removeListener: () => void;
  readonly #answers = new DatabaseAnswers();
  #isNewsDue = false;
  #cancelReading: Cancel = () => {};
  #readAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> = Promise.resolve();

  constructor(options: SharedLedgerOptions) {
    const { state, versions, number } = options.loaded;
    this.#options = options;
    this.#known = { state, versions, number };
    this.#core = new LedgerCore(options, (commands) => {
      this.#running = this.#runBatch(commands);
      return this.#running;
    });
    this.#removeListener = options.database.onNews(() => this.#onNews());
    // The first reading adds the commits that were made while the state was loaded.
    this.#onNews();
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

  /** Ends the reads of news, and rejects the waiting commands if the database does not answer. Resolves when the last request to it has ended. */
  async stop(): Promise<void> {
    this.#removeListener();
    this.#cancelReading();
    this.#stopped.abort();
    await this.#core.settled();
    await this.#running;
  }

  /** Reads the news soon, but not more often than every `NEWS_EVERY_MS`. */
  #onNews(): void {
    const { clock } = this.#options;
    if (this.#isNewsDue || this.#stopped.signal.aborted) return;
    this.#isNewsDue = true;
    this.#cancelReading();
    this.#cancelReading = clock.after(Math.max(0, this.#readAt + NEWS_EVERY_MS - clock.monotonic()), () => {
      if (this.#isNewsDue) this.#core.wake();
    });
  }

  async #runBatch(commands: readonly QueuedCommand[]): Promise<void> {
    const { clock } = this.#options;
    const cancel = clock.every(LATE_EVERY_MS, () => this.#rejectLate(commands));
    this.#answers.request(clock.monotonic());
    await this.#executeBatch(commands);
    cancel();
  }

  /** Executes commands in one transaction. Without commands it reads the news. */
  async #executeBatch(commands: readonly QueuedCommand[]): Promise<void> {
    const { database, clock } = this.#options;
    this.#isNewsDue = false;
    this.#readAt = clock.monotonic();
    const attempt: Attempt = { commit: null, decided: [] };
    let caughtUp: Commit | null = null;
    const learn = (news: News): void => {
      caughtUp = addNews(this.#known, news, this.#options.leagueIds);
    };
    try {
      if (commands.length === 0) learn(await database.news(this.#known.number));
      else {
        await database.transact(this.#known.number, (news) => {
          learn(news);
          return this.#decide(attempt, commands);
        });
      }
    } catch (thrown) {
      // News that were read before the failure are committed.
      if (caughtUp) this.#core.publish(caughtUp);
      return this.#onFailure(thrown, commands, attempt);
    }
    this.#answers.answer();
    if (caughtUp) this.#core.publish(caughtUp);
    this.#onCommitted(attempt);
    if (attempt.decided.length < commands.length) this.#putBack(commands.slice(attempt.decided.length));
  }

  /** Decides commands on the known state. Returns their commit. */
  #decide(attempt: Attempt, commands: readonly QueuedCommand[]): NewCommit | null {
    const { clock, ids, leagueIds, followUps = () => [] } = this.#options;
    const { state, versions } = this.#known;
    const batch = newBatch(state, clock.iso());
    const answers = decideCommands(batch, commands, followUps, { leagueIds, versions });
    attempt.decided = answers.map((answer, index) => ({ answer, command: commands[index] as QueuedCommand }));
    if (isEmpty(batch)) return null;
    const [appends, jobs] = [[...batch.appends.values()], jobChanges(batch.events, batch.state)];
    attempt.commit = { id: ids.uuid(), at: batch.at, appends, writes: batch.writes, jobs, batch };
    return attempt.commit;
  }

  /** Makes the state after a committed batch the current one and answers its commands. */
  #onCommitted({ commit, decided }: Attempt): void {
    if (commit) {
      const known = this.#known;
      const { state: before } = known;
      for (const { stream, expectedVersion, events } of commit.appends)
        known.versions.set(stream, expectedVersion + events.length);
      known.number++;
      known.state = commit.batch.state;
      this.#core.publish({ before, state: known.state, events: commit.batch.events });
    }
    for (const { answer } of decided) answer();
  }

  async #onFailure(thrown: unknown, commands: readonly QueuedCommand[], { commit, decided }: Attempt): Promise<void> {
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
  async #findOut(id: string, decided: readonly Decided[]): Promise<void> {
    const { database, leagueIds } = this.#options;
    const commands = decided.map(({ command }) => command);
    while (commands.some((command) => !this.#isLate(command))) {
      try {
        if (!(await database.hasCommit(id))) break;
        const caughtUp = addNews(this.#known, await database.news(this.#known.number), leagueIds);
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
