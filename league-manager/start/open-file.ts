import { type Clock, throwLater } from "#shared/lib/clock.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { admitsOthers } from "#shared/runtime/config/config.ts";
import { StartError, StoreLost } from "#shared/runtime/process/exit.ts";
import { unwritableCause } from "#shared/store/store-errors.ts";
import { leagueFollowUps, openLeagues } from "../commands/league-commands.ts";
import { type League, leagueSeed } from "../league/league.ts";
import { type ManagerOptions, settingsAtStart } from "../manager-options.ts";
import type { MatchQueue } from "../match-queue.ts";
import { type CountedLedger, countedLedger } from "../metrics/counted-ledger.ts";
import type { RunDatabase } from "../shared-run/run-database.ts";
import { loadState } from "../store/manager-state.ts";
import { MANAGER_SCHEMA, type ManagerStore, managerStore, openRun, type RunIdentity } from "../store/manager-store.ts";
import { openLedger } from "../store/store-ledger.ts";

/** Opens the run in the SQLite file of a manager that works alone. The file is closed by `started`. */
export async function openFile(
  started: AsyncDisposableStack,
  file: string,
  { config, seed, startWhen }: ManagerOptions,
  self: AgentProcess,
): Promise<OpenedRun> {
  const { clock, ids, disk } = self;
  // After a failed write the memory may differ from the file, so the process ends. The next start reads the file.
  const onFatal = (error: Error): void =>
    throwLater(clock, error instanceof StoreLost ? error : new StartError(`cannot write to ${file}: ${error.message}`));
  const notices = writeNotices(file, self);
  const onBroken = (error: Error): void => {
    const why = unwritableCause(error);
    if (why === null) onFatal(error);
    else notices.unwritable(why);
  };
  const storeFile = disk.openStore(file, MANAGER_SCHEMA, { isWrittenByThread: false, onBroken });
  started.defer(() => storeFile.close());
  const store = managerStore(storeFile.db, storeFile.writer, onFatal);
  const run = await openRun(store, { seed, isOpen: admitsOthers(config, startWhen) }, ids);
  const leagueIds = config.leagues.map(({ league_id }) => league_id);
  const loaded = await loadState(store, leagueIds);
  const followUps = leagueFollowUps((leagueId) => leagueSeed(run.seed, leagueId));
  const commands = countedLedger(openLedger({ store, loaded, clock, leagueIds, followUps, onFatal }), clock);
  commands.ledger.onCommit(notices.written);
  const settings = settingsAtStart(config, run, loaded.state.leagues.values(), clock.now());
  await commands.ledger.execute(openLeagues(settings));
  return { store, clock, run, commands, snapshots: loaded.snapshots, shared: null };
}

/** Warns once when a file cannot be written, and once when it could be written again. */
function writeNotices(file: string, { warn }: Pick<AgentProcess, "warn">) {
  let isReported = false;
  return {
    unwritable(why: string): void {
      if (!isReported) warn(`cannot write to ${file}: ${why}; registrations and results wait until it can be written`);
      isReported = true;
    },
    written(): void {
      if (isReported) warn(`${file} can be written again`);
      isReported = false;
    },
  };
}

/** A run whose state is loaded and whose leagues are opened. */
export interface OpenedRun {
  readonly store: ManagerStore;
  /** The clock of the run: that of the database, or that of the machine for a manager that works alone. */
  readonly clock: Clock;
  readonly run: RunIdentity;
  readonly commands: CountedLedger;
  /** The leagues that were restored from snapshots, by league id. */
  readonly snapshots: ReadonlyMap<string, League>;
  /** The parts that several managers share; null for a manager that works alone. */
  readonly shared: SharedRun | null;
}

/** The parts of a run that its managers share. */
export interface SharedRun {
  readonly database: RunDatabase;
  readonly queue: MatchQueue<never>;
  /** The secret with which the managers authenticate to each other. */
  readonly secret: string;
  readonly operatorToken: string;
  /** Whether the database answers. */
  isAvailable(): boolean;
  /** Returns the number of the newest commit that this manager has applied. */
  commitNumber(): number;
}
