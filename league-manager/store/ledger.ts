import { type Clock, throwLater } from "#shared/lib/clock.ts";
import type { Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import { StoreBusy } from "#shared/store/store-errors.ts";
import type { Commit, Decide, Ledger } from "../ledger.ts";
import { addDecision, type Batch, newBatch } from "./batch.ts";
import type { Loaded } from "./load-state.ts";
import type { ManagerStore } from "./manager-store.ts";

interface LedgerOptions {
  readonly store: ManagerStore;
  /** The state of the store. */
  readonly loaded: Pick<Loaded, "state" | "versions">;
  readonly clock: Pick<Clock, "iso" | "nextTurn" | "defer">;
  /** The leagues of the config, in their order. */
  readonly leagueIds: readonly string[];
  /** Called when an append is rejected, except with StoreBusy: the memory may differ from the file. */
  readonly onFatal: (error: Error) => void;
}

/** Commands of one batch. They are decided without a break, so other work waits for them. */
const BATCH_COMMANDS = 100;

interface Pending {
  readonly decide: Decide<unknown>;
  readonly resolve: (result: Result<unknown, ProtocolError>) => void;
  readonly reject: (reason: unknown) => void;
}

type Listener = (commit: Commit) => void;

/** The ledger on a store. */
export function openLedger(options: LedgerOptions): Ledger {
  const { state, versions } = options.loaded;
  const ledger: Working = {
    ...options,
    ...{
      loaded: { state, versions },
      waiting: [],
      listeners: new Set(),
      isWorking: false,
      last: Promise.resolve(),
    },
  };
  return {
    get state() {
      return ledger.loaded.state;
    },
    execute<Reply>(decide: Decide<Reply>) {
      const answer = new Promise<Result<Reply, ProtocolError>>((resolve, reject) => {
        ledger.waiting.push({ decide, resolve: resolve as Pending["resolve"], reject });
      });
      ledger.last = answer;
      if (!ledger.isWorking) void work(ledger);
      return answer;
    },
    onCommit(listener) {
      ledger.listeners.add(listener);
      return () => void ledger.listeners.delete(listener);
    },
    settled: async () => {
      await Promise.allSettled([ledger.last]);
    },
  };
}

interface Working extends LedgerOptions {
  loaded: LedgerOptions["loaded"];
  readonly waiting: Pending[];
  readonly listeners: Set<Listener>;
  isWorking: boolean;
  /** The answer to the last command that was given. Commands are answered in the order in which they are given. */
  last: Promise<unknown>;
}

/** Executes commands in batches: those of one turn of the event loop, and those that arrive while a batch is being committed. */
async function work(ledger: Working): Promise<void> {
  ledger.isWorking = true;
  await ledger.clock.nextTurn();
  while (ledger.waiting.length > 0) {
    await executeAll(ledger, ledger.waiting.splice(0, BATCH_COMMANDS));
    await ledger.clock.nextTurn();
  }
  ledger.isWorking = false;
}

async function executeAll(ledger: Working, commands: readonly Pending[]): Promise<void> {
  const batch = newBatch(ledger.loaded.state);
  const answers = commands.map((command) => decideOne(ledger, batch, command));
  try {
    await commit(ledger, batch);
  } catch (thrown) {
    if (!(thrown instanceof StoreBusy)) ledger.onFatal(thrown instanceof Error ? thrown : new Error(String(thrown)));
    // A rejection may be due to an event of the same batch, so it is void too.
    for (const { reject } of commands) reject(thrown);
    return;
  }
  for (const answer of answers) answer();
}

/** Decides a command on the state after the commands before it. Returns a function that answers the command after the commit. */
function decideOne(ledger: Working, batch: Batch, { decide, resolve, reject }: Pending): () => void {
  try {
    const at = ledger.clock.iso();
    const decision = decide(batch.state, at);
    if (!decision.ok) return () => resolve(decision);
    const { reply } = decision.value;
    addDecision(batch, decision.value, at, { ...ledger, versions: ledger.loaded.versions });
    return () => resolve({ ok: true, value: reply });
  } catch (thrown) {
    return () => reject(thrown);
  }
}

/** Appends a batch, then makes its state the committed one and calls the listeners. */
async function commit(ledger: Working, batch: Batch): Promise<void> {
  const { store, loaded } = ledger;
  const { state: before, versions } = loaded;
  const appends = [...batch.appends.values()];
  if (appends.length === 0 && batch.statements.length === 0) return;
  await store.log.append(appends, batch.statements);
  for (const { stream, expectedVersion, events } of appends) versions.set(stream, expectedVersion + events.length);
  ledger.loaded = { ...loaded, state: batch.state };
  if (batch.events.length === 0) return;
  const commit = { before, state: batch.state, events: batch.events };
  for (const listener of [...ledger.listeners]) callListener(ledger, listener, commit);
}

/** The events are committed when a listener is called, so its error may fail neither the commands nor the other listeners. */
function callListener({ clock }: Working, listener: Listener, commit: Commit): void {
  try {
    listener(commit);
  } catch (thrown) {
    throwLater(clock, thrown);
  }
}
