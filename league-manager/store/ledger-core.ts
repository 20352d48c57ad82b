import { type Clock, throwLater } from "#shared/lib/clock.ts";
import type { Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { NewEvent, StreamAppend } from "#shared/store/event-log.ts";
import { AGENT_FORMAT_VERSION, AgentEvent, agentStream } from "../agents/registered-agent.ts";
import { LEAGUE_FORMAT_VERSION, LeagueEvent, leagueStream } from "../league/events.ts";
import type { Commit, CommittedEvent, Decide, Decision, FollowUps, Ledger, ManagerState, Write } from "../ledger.ts";
import { evolveState, type Loaded } from "./manager-state.ts";

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

/** A command that is not answered yet. */
interface PendingCommand {
  readonly decide: Decide<unknown>;
  readonly resolve: (result: Result<unknown, ProtocolError>) => void;
  readonly reject: (reason: unknown) => void;
}

/** Answers a command. To be called after the commit of its batch. */
export type GiveAnswer = () => void;

/** A follow-up can have follow-ups: after the last result of a round the next round is paired and then opened. */
const MAX_PASSES = 5;

/**
 * Decides commands, each on the state after the earlier ones of its batch, and then the commands that follow from the new state. Adds their decisions to
 * the batch. Returns the answers to the commands. If the batch is full, the last commands are not decided and have no answers.
 */
export function decideCommands(
  batch: Batch,
  commands: readonly PendingCommand[],
  followUps: FollowUps,
  context: BatchContext,
): readonly GiveAnswer[] {
  let { state: before } = batch;
  const answers: GiveAnswer[] = [];
  for (const command of commands) {
    if (isFull(batch)) break;
    answers.push(decideOne(batch, command, context));
  }
  for (let pass = 0; pass < MAX_PASSES && batch.state !== before; pass++) {
    const following = followUpsOf(followUps, before, batch.state);
    before = batch.state;
    for (const decide of following) decideFollowUp(batch, decide, context);
  }
  return answers;
}

/** An exception must not fail the batch: every manager would decide the same commands, and end. */
function followUpsOf(followUps: FollowUps, before: ManagerState, state: ManagerState): ReturnType<FollowUps> {
  try {
    return followUps(before, state);
  } catch {
    return []; // the reconciler finds the same work, and reports why it fails
  }
}

function decideOne(batch: Batch, { decide, resolve, reject }: PendingCommand, context: BatchContext): GiveAnswer {
  try {
    const decision = decide(batch.state, batch.at);
    if (!decision.ok) return () => resolve(decision);
    const { reply } = decision.value;
    addDecision(batch, decision.value, context);
    return () => resolve({ ok: true, value: reply });
  } catch (thrown) {
    return () => reject(thrown);
  }
}

/** Decides a follow-up. If it fails, the reconciler executes it again and reports why. */
function decideFollowUp(batch: Batch, decide: Decide<unknown>, context: BatchContext): void {
  try {
    const decision = decide(batch.state, batch.at);
    if (decision.ok) addDecision(batch, decision.value, context);
  } catch {}
}

/** The uncommitted results of the commands of one batch. */
export interface Batch {
  /** The time of its commands, ISO 8601, UTC. */
  readonly at: string;
  state: ManagerState;
  readonly events: CommittedEvent[];
  readonly appends: Map<string, StreamAppend & { readonly events: NewEvent[] }>;
  readonly writes: Write[];
  /** The characters of its session logs. */
  logLength: number;
}

/** A batch has no further command when its session logs have this number of characters. The database has a time limit for a statement. */
const FULL_LOG_LENGTH = 8_000_000;

interface BatchContext {
  readonly leagueIds: readonly string[];
  /** The committed version of each stream. */
  readonly versions: ReadonlyMap<string, number>;
}

export const newBatch = (state: ManagerState, at: string): Batch => ({
  at,
  state,
  events: [],
  appends: new Map(),
  writes: [],
  logLength: 0,
});

export const isEmpty = ({ appends, writes }: Batch): boolean => appends.size === 0 && writes.length === 0;

const isFull = ({ logLength }: Batch): boolean => logLength >= FULL_LOG_LENGTH;

/** Adds a decision to a batch. Throws if an event cannot follow; the batch is then unchanged. */
function addDecision(batch: Batch, decision: Decision<unknown>, context: BatchContext): void {
  const { writes = [] } = decision;
  const versions = new Map<string, number>();
  const nextVersion = (stream: string): number => {
    const { expectedVersion = context.versions.get(stream) ?? 0, events = [] } = batch.appends.get(stream) ?? {};
    const version = (versions.get(stream) ?? expectedVersion + events.length) + 1;
    versions.set(stream, version);
    return version;
  };
  const added = checkedEvents(decision, batch.at, nextVersion);
  const state = evolveState(
    batch.state,
    { events: added.map(({ committed }) => committed), writes },
    context.leagueIds,
  );
  // The following statements do not throw, so the batch changes completely or not at all.
  batch.state = state;
  for (const { stream, body, committed } of added) {
    const append = batch.appends.get(stream) ?? { stream, expectedVersion: committed.version - 1, events: [] };
    append.events.push({ type: committed.event.type, body });
    batch.appends.set(stream, append);
    batch.events.push(committed);
  }
  batch.writes.push(...writes);
  batch.logLength += logLengthOf(writes);
}

function logLengthOf(writes: readonly Write[]): number {
  let length = 0;
  for (const write of writes)
    if (write.type === "session_log") for (const { length: entry } of write.log) length += entry;
  return length;
}

interface AddedEvent {
  readonly stream: string;
  readonly body: string;
  readonly committed: CommittedEvent;
}

/** The events of a decision in their stored form. Throws if an event does not match its schema, because the next start could not read it. */
function checkedEvents(
  { leagueEvents = [], agentEvents = [] }: Decision<unknown>,
  at: string,
  nextVersion: (stream: string) => number,
): AddedEvent[] {
  const addedToLeagues = leagueEvents.map(({ leagueId, event }): AddedEvent => {
    const stream = leagueStream(leagueId);
    const checked = LeagueEvent.parse({ v: LEAGUE_FORMAT_VERSION, at, ...event });
    const committed = { kind: "league", leagueId, version: nextVersion(stream), event: checked } as const;
    return { stream, body: JSON.stringify(checked), committed };
  });
  const addedToAgents = agentEvents.map(({ agentId, event }): AddedEvent => {
    const stream = agentStream(agentId);
    const checked = AgentEvent.parse({ v: AGENT_FORMAT_VERSION, at, ...event });
    const committed = { kind: "agent", agentId, version: nextVersion(stream), event: checked } as const;
    return { stream, body: JSON.stringify(checked), committed };
  });
  return [...addedToLeagues, ...addedToAgents];
}
