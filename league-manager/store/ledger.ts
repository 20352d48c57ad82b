import { type Clock, throwLater } from "#shared/lib/clock.ts";
import type { Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import { StoreBusy } from "#shared/store/store-errors.ts";
import type { Commit, Decide, Ledger } from "../ledger.ts";
import { addDecision, type Batch, newBatch } from "./batch.ts";
import type { Loaded } from "./load-state.ts";
import type { LedgerStore } from "./manager-store.ts";

interface LedgerOptions {
  readonly store: Pick<LedgerStore, "commit">;
  /** The state that was loaded from the store. */
  readonly loaded: Pick<Loaded, "state" | "versions">;
  readonly clock: Pick<Clock, "iso" | "nextTurn" | "defer">;
  /** The league ids of the config, in its order. */
  readonly leagueIds: readonly string[];
  /** Called when an append fails other than with StoreBusy, because the memory may then differ from the file. */
  readonly onFatal: (error: Error) => void;
}

/** The maximum number of commands of one batch. They are decided in one turn of the event loop, so other work waits for them. */
const MAX_BATCH_COMMANDS = 100;

interface PendingCommand {
  readonly decide: Decide<unknown>;
  readonly resolve: (result: Result<unknown, ProtocolError>) => void;
  readonly reject: (reason: unknown) => void;
}

type Listener = (commit: Commit) => void;

/** Opens the ledger of a store. */
export function openLedger(options: LedgerOptions): Ledger {
  const { state, versions } = options.loaded;
  const ledger: LedgerState = {
    ...options,
    ...{
      loaded: { state, versions },
      pending: [],
      listeners: new Set(),
      isRunning: false,
      lastAnswer: Promise.resolve(),
    },
  };
  return {
    get state() {
      return ledger.loaded.state;
    },
    execute<Reply>(decide: Decide<Reply>) {
      const answer = new Promise<Result<Reply, ProtocolError>>((resolve, reject) => {
        ledger.pending.push({ decide, resolve: resolve as PendingCommand["resolve"], reject });
      });
      ledger.lastAnswer = answer;
      if (!ledger.isRunning) void executePending(ledger);
      return answer;
    },
    onCommit(listener) {
      ledger.listeners.add(listener);
      return () => void ledger.listeners.delete(listener);
    },
    settled: async () => {
      await Promise.allSettled([ledger.lastAnswer]);
    },
  };
}

/** The mutable state of a ledger. */
interface LedgerState extends LedgerOptions {
  loaded: LedgerOptions["loaded"];
  readonly pending: PendingCommand[];
  readonly listeners: Set<Listener>;
  isRunning: boolean;
  /** The answer to the last command. Commands are answered in order. */
  lastAnswer: Promise<unknown>;
}

/** Executes the pending commands in batches. A batch has the commands of one turn of the event loop, or those that arrived during a commit. */
async function executePending(ledger: LedgerState): Promise<void> {
  ledger.isRunning = true;
  await ledger.clock.nextTurn();
  while (ledger.pending.length > 0) {
    await executeBatch(ledger, ledger.pending.splice(0, MAX_BATCH_COMMANDS));
    await ledger.clock.nextTurn();
  }
  ledger.isRunning = false;
}

async function executeBatch(ledger: LedgerState, commands: readonly PendingCommand[]): Promise<void> {
  const batch = newBatch(ledger.loaded.state);
  const at = ledger.clock.iso();
  const answers = commands.map((command) => decideOne(ledger, batch, command, at));
  try {
    await commit(ledger, batch, at);
  } catch (thrown) {
    if (!(thrown instanceof StoreBusy)) ledger.onFatal(thrown instanceof Error ? thrown : new Error(String(thrown)));
    // A rejection may depend on an event of the same batch, so rejected commands fail, too.
    for (const { reject } of commands) reject(thrown);
    return;
  }
  for (const answer of answers) answer();
}

/** Decides a command on the state after the earlier commands of its batch. Returns a function that answers it, to be called after the commit. */
function decideOne(
  ledger: LedgerState,
  batch: Batch,
  { decide, resolve, reject }: PendingCommand,
  at: string,
): () => void {
  try {
    const decision = decide(batch.state, at);
    if (!decision.ok) return () => resolve(decision);
    const { reply } = decision.value;
    addDecision(batch, decision.value, at, { ...ledger, versions: ledger.loaded.versions });
    return () => resolve({ ok: true, value: reply });
  } catch (thrown) {
    return () => reject(thrown);
  }
}

/** Appends a batch, makes its state the committed state and calls the listeners. */
async function commit(ledger: LedgerState, batch: Batch, at: string): Promise<void> {
  const { store, loaded } = ledger;
  const { state: before, versions } = loaded;
  const appends = [...batch.appends.values()];
  if (appends.length === 0 && batch.writes.length === 0) return;
  await store.commit(appends, batch.writes, at);
  for (const { stream, expectedVersion, events } of appends) versions.set(stream, expectedVersion + events.length);
  ledger.loaded = { ...loaded, state: batch.state };
  const commit = { before, state: batch.state, events: batch.events };
  for (const listener of [...ledger.listeners]) callListener(ledger, listener, commit);
}

/** Calls a listener. Its error is thrown later, because the events are committed and the other listeners must be called. */
function callListener({ clock }: LedgerState, listener: Listener, commit: Commit): void {
  try {
    listener(commit);
  } catch (thrown) {
    throwLater(clock, thrown);
  }
}
