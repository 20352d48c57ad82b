import { throwLater } from "#shared/lib/clock.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { admitsOthers } from "#shared/runtime/config/config.ts";
import { StartError, StoreLost } from "#shared/runtime/process/exit.ts";
import { unwritableCause } from "#shared/store/store-errors.ts";
import { leagueFollowUps } from "../commands/follow-ups.ts";
import { openLeagues } from "../commands/leagues.ts";
import { leagueSettings } from "../config.ts";
import { leagueSeed } from "../league/seeds.ts";
import { countedLedger } from "../metrics/counted-ledger.ts";
import type { ManagerOptions } from "../options.ts";
import { openLedger } from "../store/ledger.ts";
import { loadState } from "../store/load-state.ts";
import { managerStore } from "../store/manager-store.ts";
import { openRun } from "../store/run-identity.ts";
import { MANAGER_SCHEMA } from "../store/schema.ts";
import type { OpenedRun } from "./opened-run.ts";

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
  await commands.ledger.execute(openLeagues(leagueSettings(config, run)));
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
