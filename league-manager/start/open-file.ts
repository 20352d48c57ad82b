import { throwLater } from "#shared/lib/clock.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { admitsOthers } from "#shared/runtime/config/run-seed.ts";
import { StartError, StoreLost } from "#shared/runtime/process/exit.ts";
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
  { clock, ids, disk }: AgentProcess,
): Promise<OpenedRun> {
  // After a failed write the memory may differ from the file, so the process ends. The next start reads the file.
  const onFatal = (error: Error): void =>
    throwLater(clock, error instanceof StoreLost ? error : new StartError(`cannot write to ${file}: ${error.message}`));
  const storeFile = disk.openStore(file, MANAGER_SCHEMA, { isWrittenByThread: false, onBroken: onFatal });
  started.defer(() => storeFile.close());
  const store = managerStore(storeFile.db, storeFile.writer, onFatal);
  const run = await openRun(store, { seed, isOpen: admitsOthers(config, startWhen) }, ids);
  const leagueIds = config.leagues.map(({ league_id }) => league_id);
  const loaded = await loadState(store, leagueIds);
  const followUps = leagueFollowUps((leagueId) => leagueSeed(run.seed, leagueId));
  const commands = countedLedger(openLedger({ store, loaded, clock, leagueIds, followUps, onFatal }), clock);
  await commands.ledger.execute(openLeagues(leagueSettings(config, run)));
  return { store, clock, run, commands, snapshots: loaded.snapshots, shared: null };
}
