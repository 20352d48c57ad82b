import { join } from "node:path";
import type { z } from "zod";
import type { Listening } from "#shared/rpc/http/http-server.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { listen, portSettingOf } from "#shared/runtime/agent-server.ts";
import { readingStore } from "#shared/runtime/files/store-file.ts";
import { ManagerOptions } from "./manager-options.ts";
import { compose } from "./start/compose.ts";
import { type OpenedRun, openFile } from "./start/open-file.ts";
import { openShared, readingShared } from "./start/open-shared.ts";
import { keepSnapshots } from "./store/snapshots.ts";

/** Starts the league manager: opens its run, listens, and starts the effects. Resolves when it is ready. */
export function startManager(given: z.input<typeof ManagerOptions>, self: AgentProcess): Promise<RunningAgent> {
  const options = ManagerOptions.parse(given);
  const { database } = options;
  if (database)
    return readingShared(() => startOn((started) => openShared(started, database, options, self), options, self));
  const file = join(options.dataFolder, "league-manager.sqlite");
  return readingStore(file, () => startOn((started) => openFile(started, file, options, self), options, self));
}

/** Starts the manager on its run. Its parts are stopped in reverse order, even if a later step of the start fails. */
async function startOn(
  open: (started: AsyncDisposableStack) => Promise<OpenedRun>,
  options: ManagerOptions,
  self: AgentProcess,
): Promise<RunningAgent> {
  const started = new AsyncDisposableStack();
  try {
    const opened = await open(started);
    const { leave } = await startParts(started, opened, options, { ...self, clock: opened.clock });
    return { leave, stop: () => started.disposeAsync() };
  } catch (thrown) {
    await started.disposeAsync();
    throw thrown;
  }
}

async function startParts(
  started: AsyncDisposableStack,
  opened: OpenedRun,
  options: ManagerOptions,
  self: AgentProcess,
): Promise<Required<Pick<RunningAgent, "leave">>> {
  const { config } = options;
  const { store, snapshots: written } = opened;
  const { ledger } = opened.commands;
  let server: Listening | null = null;
  const manager = compose({ ...options, ...opened, listening: () => server }, self);
  const onError = (thrown: unknown): void => self.log.error({ err: thrown }, "a snapshot could not be written");
  const snapshots = keepSnapshots({ ledger, store, written, isOwner: manager.isMine, clock: self.clock, onError });
  started.defer(() => snapshots.stop());
  // The feed stops after the ledger has settled, because requests read the projections until the last command is answered.
  started.defer(() => manager.stopFeed());
  started.defer(() => ledger.settled());
  started.defer(() => server?.close());
  started.defer(() => manager.stop());
  server = await listen(self.network, {
    log: self.log,
    host: options.host ?? config.manager.host,
    ports: [options.port ?? config.manager.port],
    portSetting: portSettingOf("manager.port"),
    ...manager.serving,
  });
  for (const url of server.urls) self.say(`league manager at ${url}/mcp, page at ${url}/`);
  self.say(`the operator token is in ${manager.operatorFile}`);
  for (const { leagueId, seedCommitment } of ledger.state.leagues.values()) {
    self.say(`seed commitment of ${leagueId}: ${seedCommitment}`);
  }
  self.report({ type: "ready", url: server.url });
  await manager.start(options.url ?? server.urls[0] ?? server.url);
  return { leave: manager.leave };
}
