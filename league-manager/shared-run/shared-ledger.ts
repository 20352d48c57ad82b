import type { Cancel, Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { messageOf } from "#shared/lib/result.ts";
import { inOneLine } from "#shared/lib/text.ts";
import type { RecordedEvent } from "#shared/store/event-log.ts";
import { StoreBusy, UnusableEvent } from "#shared/store/store-errors.ts";
import { agentStream, parseAgentEvent } from "../agents/registered-agent.ts";
import { leagueStream, parseLeagueEvent } from "../league/events.ts";
import type { Commit, CommittedEvent, Decide, Ledger, ManagerState, Write } from "../ledger.ts";
import { jobChanges } from "../match-queue.ts";
import {
  type Batch,
  decideCommands,
  type GiveAnswer,
  isEmpty,
  LedgerCore,
  type LedgerOptions,
  newBatch,
  type QueuedCommand,
} from "../store/ledger-core.ts";
import { evolveState, isLoaded, type Loaded, loadState } from "../store/manager-state.ts";
import type { ManagerStore } from "../store/manager-store.ts";
import {
  CommitUnknown,
  DatabaseUnavailable,
  type LaterCommits,
  type NewCommit,
  type RunDatabase,
} from "./run-database.ts";

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

/** A command of a batch and its answer, which is given after the commit. */
interface DecidedCommand {
  readonly command: QueuedCommand;
  readonly answer: GiveAnswer;
}

/** A batch that was decided in a transaction. */
interface BatchAttempt {
  /** The commit of the batch; null if it has no events and no writes. */
  commit: (NewCommit & { readonly batch: Batch }) | null;
  decided: readonly DecidedCommand[];
}

interface AttemptOptions extends Pick<LedgerOptions, "leagueIds" | "followUps"> {
  readonly clock: Pick<Clock, "iso">;
  readonly ids: Pick<Ids, "uuid">;
}

/**
 * Decides commands on the known state and records the result in `attempt`. Returns their commit. Its date is not before that of the commits that are known,
 * because the clocks of managers differ by as much as their measurements of the database's clock.
 */
function decideAttempt(
  attempt: BatchAttempt,
  commands: readonly QueuedCommand[],
  { at, state, versions }: KnownRun,
  { clock, ids, leagueIds, followUps = () => [] }: AttemptOptions,
): NewCommit | null {
  const now = clock.iso();
  const batch = newBatch(state, now > at ? now : at);
  const answers = decideCommands(batch, commands, followUps, { leagueIds, versions });
  attempt.decided = answers.map((answer, index) => ({ answer, command: commands[index] as QueuedCommand }));
  if (isEmpty(batch)) return null;
  const [appends, jobs] = [[...batch.appends.values()], jobChanges(batch.events, batch.state)];
  attempt.commit = { id: ids.uuid(), at: batch.at, appends, writes: batch.writes, jobs, batch };
  return attempt.commit;
}

const LEAGUE_PREFIX = leagueStream("");
const AGENT_PREFIX = agentStream("");

/** The state of the run at a manager. */
export interface KnownRun {
  /** The number of the last commit whose events are in the state. */
  number: number;
  /** The date of the newest event that this manager has made or read since its start, ISO 8601 in UTC; empty without one. */
  at: string;
  state: ManagerState;
  /** Versions by stream, including those of leagues that the manager does not load. */
  readonly versions: Map<string, number>;
}

/** Thrown if the database has fewer commits than the manager knows: it has been restored from a backup. */
class LostCommits extends Error {
  constructor(number: number, known: number) {
    super(
      `the database has ${number} commits, and this manager knows ${known}: after the database is restored from a backup, start all managers again`,
    );
    this.name = "LostCommits";
  }
}

/**
 * Adds the later commits to what a manager knows. Returns the change as one commit, or null without a change. Events that are known already are
 * skipped, because the state can be loaded while other managers commit. Throws `UnusableEvent` or `LostCommits`; `known` is then unchanged.
 */
export function addCommits(known: KnownRun, later: LaterCommits, leagueIds: readonly string[]): Commit | null {
  if (later.number < known.number) throw new LostCommits(later.number, known.number);
  const versions = new Map<string, number>();
  const leagues = new Set(known.state.leagues.keys());
  const formerLeagues: ManagerState["formerLeagues"][number][] = [];
  const events: CommittedEvent[] = [];
  const recorded: RecordedEvent[] = [];
  for (const one of later.events) {
    const { stream, seq } = one;
    const version = versions.get(stream) ?? known.versions.get(stream) ?? 0;
    if (seq < version) continue;
    if (seq > version) throw unusable(one, `the stream has ${version} events before it`);
    versions.set(stream, seq + 1);
    const committed = committedOf(one, leagues);
    if (!committed) continue;
    if (committed.event.type === "opened") {
      const { league_id: leagueId, like = null } = committed.event;
      if (!isLoaded({ leagueId, like }, leagueIds)) {
        formerLeagues.push({ leagueId, entrants: new Map(), status: "open" });
        continue;
      }
      leagues.add(leagueId);
    }
    events.push(committed);
    recorded.push(one);
  }
  const writes = [...later.profiles].map(
    ([agentId, profile]): Write =>
      profile ? { type: "profile", agentId, profile } : { type: "erase_profile", agentId },
  );
  const before = withFormer(known.state, formerLeagues);
  const state = evolved(before, events, recorded, writes, leagueIds);
  for (const [stream, version] of versions) known.versions.set(stream, version);
  known.number = later.number;
  known.at = events.reduce((latest, { event: { at } }) => (at > latest ? at : latest), known.at);
  known.state = state;
  return events.length > 0 || writes.length > 0 ? { before, state, events } : null;
}

/** Adds leagues that other managers have opened and this one does not load, so that their ids are not used again. */
const withFormer = (state: ManagerState, added: ManagerState["formerLeagues"]): ManagerState =>
  added.length === 0 ? state : { ...state, formerLeagues: [...state.formerLeagues, ...added] };

/** Parses an event. Returns null for a later event of a league that is not among these. */
function committedOf(recorded: RecordedEvent, leagues: ReadonlySet<string>): CommittedEvent | null {
  const { stream, seq, body } = recorded;
  const version = seq + 1;
  try {
    if (stream.startsWith(AGENT_PREFIX)) {
      return { kind: "agent", agentId: stream.slice(AGENT_PREFIX.length), version, event: parseAgentEvent(body) };
    }
    const leagueId = stream.slice(LEAGUE_PREFIX.length);
    if (!stream.startsWith(LEAGUE_PREFIX) || (seq > 0 && !leagues.has(leagueId))) return null;
    return { kind: "league", leagueId, version, event: parseLeagueEvent(body) };
  } catch (thrown) {
    throw unusable(recorded, inOneLine(messageOf(thrown)));
  }
}

function evolved(
  before: ManagerState,
  events: readonly CommittedEvent[],
  recorded: readonly RecordedEvent[],
  writes: readonly Write[],
  leagueIds: readonly string[],
): ManagerState {
  try {
    return evolveState(before, { events, writes }, leagueIds);
  } catch {
    // Apply the events one by one, to find the one that cannot follow.
    let state = before;
    for (const [index, committed] of events.entries()) {
      try {
        state = evolveState(state, { events: [committed], writes }, leagueIds);
      } catch (thrown) {
        throw unusable(recorded[index] as RecordedEvent, inOneLine(messageOf(thrown)));
      }
    }
    return state;
  }
}

const unusable = ({ stream, seq }: RecordedEvent, why: string): UnusableEvent =>
  new UnusableEvent(stream, seq, `${why}. Another manager has committed it: run the same version on all managers`);

/** A number above those of all commits. A read of the commits after it returns the number of the newest commit and no events. */
const AFTER_ALL = 2 ** 31 - 1;

/**
 * Loads the state of a run that other managers change meanwhile. The state has the events of all commits up to `number`, and perhaps some of later ones,
 * which the ledger skips when it reads the later commits.
 */
export async function loadSharedState(
  database: ManagerStore & Pick<RunDatabase, "commitsAfter">,
  leagueIds: readonly string[],
): Promise<Loaded & { readonly number: number }> {
  const { number } = await database.commitsAfter(AFTER_ALL);
  return { ...(await loadState(database, leagueIds)), number };
}

const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [25, 1_000] as const;
/** A database that has not answered for this time is not available. */
const SLOW_MS = 2_000;

/** Records whether the database answers the requests of a ledger. All times are those of one monotonic clock. */
class DatabaseAnswers {
  /** The failures since the last answer. */
  #failures = 0;
  /** The time of the first request without an answer; null if all are answered. */
  #waitingSince: number | null = null;

  /** Records that a request was sent. */
  request(nowMs: number): void {
    this.#waitingSince ??= nowMs;
  }

  /** Records an answer. */
  answer(): void {
    this.#failures = 0;
    this.#waitingSince = null;
  }

  /** Records a failure. Returns the pause until the next request, which is longer after each failure. */
  failure(): number {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
    this.#failures++;
    return pauseMs;
  }

  /** Returns whether the database answers. A single failure does not count, because a transaction can fail because of another one. */
  isAvailable(nowMs: number): boolean {
    return this.#failures < 2 && (this.#waitingSince === null || nowMs - this.#waitingSince < SLOW_MS);
  }
}
