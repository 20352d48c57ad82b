import { join } from "node:path";
import { throwLater } from "#shared/lib/clock.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { admitsOthers } from "#shared/runtime/config/config.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { StoreBusy, UnusableEvent } from "#shared/store/store-errors.ts";
import { leagueFollowUps, openLeagues } from "../commands/league-commands.ts";
import { leagueSeed } from "../league/league.ts";
import type { Ledger } from "../ledger.ts";
import { type ManagerOptions, settingsAtStart } from "../manager-options.ts";
import { countedLedger } from "../metrics/counted-ledger.ts";
import { openRunClock } from "../shared-run/run-clock.ts";
import { DatabaseUnavailable } from "../shared-run/run-database.ts";
import { loadSharedState, SharedLedger } from "../shared-run/shared-ledger.ts";
import { openRun } from "../store/manager-store.ts";
import type { OpenedRun } from "./open-file.ts";

/** The keys of secrets that all managers of a run share, among the values that are fixed for the run. */
const SECRET = "manager_secret";
const OPERATOR_TOKEN = "operator_token";

/** Opens a run in the database that its managers share. The database is closed by `started`. */
export async function openShared(
  started: AsyncDisposableStack,
  openDatabase: NonNullable<ManagerOptions["database"]>,
  { config, seed, startWhen, dataFolder }: ManagerOptions,
  { clock: machineClock, ids, log, disk, warn }: AgentProcess,
): Promise<OpenedRun> {
  const lock = disk.lock(join(dataFolder, "league-manager"));
  if (!lock) throw new StartError(`${dataFolder} is used by another manager: name another folder with --data`);
  started.defer(() => lock.release());
  const { run: database, queue } = await openDatabase({ clock: machineClock, ids, log, warn });
  started.defer(() => database.close());
  const { clock, stop } = await openRunClock({ database, clock: machineClock, warn });
  started.defer(stop);
  const run = await openRun(database, { seed, isOpen: admitsOthers(config, startWhen) }, ids);
  const secret = (await database.getMeta(SECRET)) ?? (await database.initMeta(SECRET, ids.token()));
  const operatorToken =
    config.manager.operator_token ??
    (await database.getMeta(OPERATOR_TOKEN)) ??
    (await database.initMeta(OPERATOR_TOKEN, ids.token()));
  const leagueIds = config.leagues.map(({ league_id }) => league_id);
  const loaded = await loadSharedState(database, leagueIds);
  const followUps = leagueFollowUps((leagueId) => leagueSeed(run.seed, leagueId));
  // The log cannot be continued, so the process ends. The next start reads the log.
  const onFatal = (error: Error): void =>
    throwLater(clock, new StartError(`cannot continue the log in the database: ${error.message}`));
  const ledger = new SharedLedger({ database, loaded, clock, ids, leagueIds, followUps, onFatal });
  started.defer(() => ledger.stop());
  const commands = countedLedger(ledger, clock);
  await openConfigured(ledger, settingsAtStart(config, run, loaded.state.leagues.values(), clock.now()), warn);
  const shared = {
    database,
    queue,
    secret,
    operatorToken,
    isAvailable: () => ledger.isAvailable(),
    commitNumber: () => ledger.commitNumber,
  };
  return { store: database, clock, run, commands, snapshots: loaded.snapshots, shared };
}

/** Opens the leagues of the config. Warns if that changes a league, because the configs of the managers then differ or have been changed. */
async function openConfigured(
  ledger: Ledger,
  settings: Parameters<typeof openLeagues>[0],
  warn: AgentProcess["warn"],
): Promise<void> {
  const remove = ledger.onCommit(({ events }) => {
    for (const committed of events) {
      if (committed.kind !== "league" || committed.event.type !== "reconfigured") continue;
      warn(`league ${committed.leagueId} has new settings from this config: start every manager with the same config`);
    }
  });
  await ledger.execute(openLeagues(settings));
  remove();
}

/** Starts a manager on a database. A database that does not answer, or whose log cannot be read, is thrown as a StartError. */
export async function readingShared<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    if (thrown instanceof DatabaseUnavailable || thrown instanceof StoreBusy) throw new StartError(thrown.message);
    if (!(thrown instanceof UnusableEvent)) throw thrown;
    throw new StartError(`the log in the database is damaged: ${thrown.message}. Restore the database from a backup.`);
  }
}
