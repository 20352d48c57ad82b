import type { Clock } from "#shared/lib/clock.ts";
import type { Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import { leagueStream } from "../league/events.ts";
import type { League } from "../league/league.ts";
import { leagueSnapshot } from "../league/snapshot.ts";
import type { Commit, Decide, Ledger } from "../ledger.ts";
import { addDecision, type Batch, newBatch } from "./batch.ts";
import { type Loaded, loadState } from "./load-state.ts";
import type { ManagerStore, Snapshot } from "./manager-store.ts";

export interface LedgerOptions {
  readonly store: ManagerStore;
  readonly clock: Pick<Clock, "iso" | "nextTurn">;
  /** The leagues of the config, in their order. */
  readonly leagueIds: readonly string[];
  /** A league is snapshotted after so many events, and then whenever it has grown by a quarter. */
  readonly snapshotAfter?: number;
}

interface Pending {
  readonly decide: Decide<unknown>;
  readonly resolve: (result: Result<unknown, ProtocolError>) => void;
  readonly reject: (reason: unknown) => void;
}

type Listener = (commit: Commit) => void;

export interface StoredLedger extends Ledger {
  /** Saves snapshots of the leagues that have changed since their last one, so that the next start reads few events. For the end of a process. */
  saveSnapshots(): Promise<void>;
}

/** The ledger on a store: loads the state from its log, then executes commands. */
export function openLedger(options: LedgerOptions): StoredLedger {
  const { store, leagueIds } = options;
  const ledger: Working = {
    ...{ ...options, snapshotAfter: options.snapshotAfter ?? SNAPSHOT_AFTER },
    ...{ loaded: loadState(store, leagueIds), waiting: [], listeners: new Set(), working: null },
  };
  return {
    get state() {
      return ledger.loaded.state;
    },
    execute: <Reply>(decide: Decide<Reply>) =>
      new Promise<Result<Reply, ProtocolError>>((resolve, reject) => {
        ledger.waiting.push({ decide, resolve: resolve as Pending["resolve"], reject });
        ledger.working ??= work(ledger);
      }),
    onCommit(listener) {
      ledger.listeners.add(listener);
      return () => void ledger.listeners.delete(listener);
    },
    settled: async () => {
      await ledger.working;
    },
    async saveSnapshots() {
      await ledger.working;
      const { state, snapshots } = ledger.loaded;
      const changed = [...state.leagues.values()].filter((league) => league.version > versionOf(snapshots, league));
      await saveAll(ledger, changed);
    },
  };
}

const SNAPSHOT_AFTER = 1_000;
const SNAPSHOT_GROWTH = 1.25;

interface Working extends Required<LedgerOptions> {
  loaded: Loaded;
  waiting: Pending[];
  readonly listeners: Set<Listener>;
  /** Settles when no command is waiting. */
  working: Promise<void> | null;
}

/** Executes commands in batches: all of one turn of the event loop, and all that arrive while a batch is being committed. */
async function work(ledger: Working): Promise<void> {
  await ledger.clock.nextTurn();
  while (ledger.waiting.length > 0) {
    const commands = ledger.waiting;
    ledger.waiting = [];
    await executeAll(ledger, commands);
  }
  ledger.working = null;
}

async function executeAll(ledger: Working, commands: readonly Pending[]): Promise<void> {
  const batch = newBatch(ledger.loaded.state);
  const answers = commands.map((command) => decideOne(ledger, batch, command));
  try {
    await commit(ledger, batch);
  } catch (thrown) {
    // A rejection may be due to an event of the same batch, so it is void too.
    for (const { reject } of commands) reject(thrown);
    return;
  }
  for (const answer of answers) answer();
}

/** Decides a command on the state that the commands before it lead to. Returns what answers it after the commit. */
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
  const { state: before, versions, snapshots } = loaded;
  const appends = [...batch.appends.values()];
  if (appends.length === 0 && batch.statements.length === 0) return;
  const due = dueLeagues(ledger, batch).map(snapshotOf);
  await store.log.append(appends, [...batch.statements, ...due.map(store.snapshotting)]);
  for (const { stream, expectedVersion, events } of appends) versions.set(stream, expectedVersion + events.length);
  for (const { stream, seq } of due) snapshots.set(stream, seq);
  ledger.loaded = { ...loaded, state: batch.state };
  if (batch.events.length === 0) return;
  const commit = { before, state: batch.state, events: batch.events };
  for (const listener of [...ledger.listeners]) callListener(listener, commit);
}

/** The leagues of a batch that have grown enough for a snapshot, or that it completes. */
function dueLeagues({ loaded, snapshotAfter }: Working, { state, appends, events }: Batch): readonly League[] {
  const completed = new Set(
    events.map((one) => (one.event.type === "completed" && one.kind === "league" ? one.leagueId : null)),
  );
  return [...state.leagues.values()].filter((league) => {
    const last = versionOf(loaded.snapshots, league);
    const hasGrown = league.version >= Math.max(last + snapshotAfter, last * SNAPSHOT_GROWTH);
    return completed.has(league.leagueId) || (hasGrown && appends.has(leagueStream(league.leagueId)));
  });
}

/** The version of a league's last snapshot; 0 for none. */
const versionOf = (snapshots: ReadonlyMap<string, number>, { leagueId }: League): number =>
  snapshots.get(leagueStream(leagueId)) ?? 0;

const snapshotOf = (league: League): Snapshot => ({
  ...{ stream: leagueStream(league.leagueId), seq: league.version, body: leagueSnapshot(league) },
});

async function saveAll({ store, loaded }: Working, leagues: readonly League[]): Promise<void> {
  if (leagues.length === 0) return;
  const snapshots = leagues.map(snapshotOf);
  await store.log.append([], snapshots.map(store.snapshotting));
  for (const { stream, seq } of snapshots) loaded.snapshots.set(stream, seq);
}

/** The events are committed when a listener is called, so its error may fail neither the commands nor the other listeners. */
function callListener(listener: Listener, commit: Commit): void {
  try {
    listener(commit);
  } catch (thrown) {
    queueMicrotask(() => {
      throw thrown;
    });
  }
}
