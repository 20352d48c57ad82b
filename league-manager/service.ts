import { join } from "node:path";
import type { z } from "zod";
import { throwLater } from "#shared/lib/clock.ts";
import type { Listening } from "#shared/rpc/http/listen.ts";
import { machineAddresses } from "#shared/rpc/http/machine-addresses.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { readingStore } from "#shared/runtime/files/store-file.ts";
import { listen, portSettingOf } from "#shared/runtime/listen.ts";
import { StartError, StoreLost } from "#shared/runtime/process/exit.ts";
import { awaitedBy, type StartRule } from "./agents/awaited-players.ts";
import { takesPlayers } from "./agents/entries.ts";
import type { AdmissionPolicy } from "./agents/policy.ts";
import { type ApiOptions, createApi } from "./api/api.ts";
import { operatorToken } from "./api/operator-token.ts";
import { createRegistration } from "./api/registration.ts";
import { ALONE } from "./cluster/homes.ts";
import { leagueFollowUps } from "./commands/follow-ups.ts";
import { openLeagues } from "./commands/leagues.ts";
import { admissionPolicy, leagueSettings, moveLimits, numbersOf, reservedPlaces } from "./config.ts";
import { hasLeft } from "./effects/endpoint-check.ts";
import { registerListedPlayers } from "./effects/listed-players.ts";
import { createEffects } from "./effects.ts";
import { createHosting, type HostingOptions } from "./hosted/hosting.ts";
import { managerInboxes } from "./inbox/manager-inboxes.ts";
import { type LeagueEvent, leagueStream } from "./league/events.ts";
import { leagueSeed, matchSeeds } from "./league/seeds.ts";
import type { Ledger } from "./ledger.ts";
import { type CountedLedger, countedLedger } from "./metrics/counted-ledger.ts";
import { managerMetrics } from "./metrics/manager-metrics.ts";
import { ManagerOptions } from "./options.ts";
import { pagesOfReferees } from "./pages/servers.ts";
import { liveEventsAtStart } from "./projections/live-at-start.ts";
import { liveFeed } from "./projections/live-feed.ts";
import { createProjections, type Projections } from "./projections/projections.ts";
import type { Views } from "./projections/views.ts";
import { openLedger } from "./store/ledger.ts";
import { loadState } from "./store/load-state.ts";
import { type ManagerStore, managerStore } from "./store/manager-store.ts";
import { openRun, type RunIdentity } from "./store/run-identity.ts";
import { MANAGER_SCHEMA } from "./store/schema.ts";
import { keepSnapshots } from "./store/snapshots.ts";

/** The parts of a manager that its other parts depend on. */
interface Core extends ManagerOptions {
  readonly store: ManagerStore;
  readonly run: RunIdentity;
  readonly ledger: Ledger;
  readonly commands: CountedLedger;
  /** Returns the open endpoint; null before the manager listens. */
  readonly listening: () => Listening | null;
}

/** Starts the league manager: opens its store, loads the state, listens, and starts the effects. Resolves when it is ready. */
export function startManager(given: z.input<typeof ManagerOptions>, self: AgentProcess): Promise<RunningAgent> {
  const options = ManagerOptions.parse(given);
  const file = join(options.dataFolder, "league-manager.sqlite");
  return readingStore(file, () => startOn(file, options, self));
}

/** Starts the manager on its store. Its parts are stopped in reverse order, even if a later step of the start fails. */
async function startOn(file: string, options: ManagerOptions, self: AgentProcess): Promise<RunningAgent> {
  const started = new AsyncDisposableStack();
  try {
    await startParts(started, file, options, self);
  } catch (thrown) {
    await started.disposeAsync();
    throw thrown;
  }
  return { stop: () => started.disposeAsync() };
}

async function startParts(
  started: AsyncDisposableStack,
  file: string,
  options: ManagerOptions,
  self: AgentProcess,
): Promise<void> {
  const { config } = options;
  const { clock, ids, network, disk, log } = self;
  // After a failed write the memory may differ from the file, so the process ends. The next start reads the file.
  const onFatal = (error: Error): void =>
    throwLater(clock, error instanceof StoreLost ? error : new StartError(`cannot write to ${file}: ${error.message}`));
  const storeFile = disk.openStore(file, MANAGER_SCHEMA, { isWrittenByThread: false, onBroken: onFatal });
  started.defer(() => storeFile.close());
  const store = managerStore(storeFile.db, storeFile.writer, onFatal);
  const run = await openRun(store, options.seed, ids);
  const leagueIds = config.leagues.map(({ league_id }) => league_id);
  const loaded = await loadState(store, leagueIds);
  const followUps = leagueFollowUps(seedsOf(run).leagueSeedOf);
  const commands = countedLedger(openLedger({ store, loaded, clock, leagueIds, followUps, onFatal }), clock);
  const { ledger } = commands;
  await ledger.execute(openLeagues(leagueSettings(config, run)));
  const onError = (thrown: unknown): void => log.error({ err: thrown }, "a snapshot could not be written");
  const snapshots = keepSnapshots({ ledger, store, written: loaded.snapshots, clock, onError });
  started.defer(() => snapshots.stop());
  let server: Listening | null = null;
  const manager = compose({ ...options, store, run, ledger, commands, listening: () => server }, self);
  // The feed stops after the ledger has settled, because requests read the projections until the last command is answered.
  started.defer(() => manager.stopFeed());
  started.defer(() => ledger.settled());
  started.defer(() => server?.close());
  started.defer(() => manager.stop());
  server = await listen(network, {
    log,
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
  await manager.start();
}

/** How players join the leagues of a manager. */
function joiningOf({ config, listening }: Core, policy: AdmissionPolicy): ApiOptions["joining"] {
  const { endpoint } = config.manager;
  return {
    needsJoinCode: policy.joinCode !== null,
    takesPlayers: (league) => takesPlayers(policy, league),
    addresses: () => (endpoint ? [endpoint.replace(/\/(mcp)?$/, "")] : (listening()?.urls ?? [])),
  };
}

/** Creates the effects and the API of a manager. */
function compose(core: Core, self: AgentProcess) {
  const { config, startWhen, dataFolder, ledger, run, onEvent: emit } = core;
  const { clock, ids, log, network } = self;
  const currentAddresses = () => machineAddresses(network.interfaces());
  const operator = operatorToken(config.manager.operator_token, dataFolder, self);
  const places = reservedPlaces(config, startWhen, dataFolder, self);
  const startRule = { places, startWhen, minPlayers: numbersOf(config, "min_players") };
  const policy = admissionPolicy(config, startWhen, places, operator.token);
  const inbox = managerInboxes({ ...core, homes: ALONE.homes }, self);
  const { peers, inboxes } = inbox;
  const projections = createProjections(ledger);
  const seeds = seedsOf(run);
  const effects = createEffects({
    ...{ ledger, peers, clock, log, machineAddresses: currentAddresses },
    notice: (message) => emit({ type: "notice", message }),
    timeouts: config.timeouts,
    moveLimits: moveLimits(config),
    leagueSeedOf: seeds.leagueSeedOf,
    seedOf: ({ leagueId }, { matchId, epoch }) => seeds.seedOf(leagueId, matchId, epoch),
    endpointFor: inbox.endpointFor,
    leagueStart: {
      ...startRule,
      onStuck: (league_id, why) => emit({ type: "league_stuck", league_id, why }),
      onWaiting: (league_id, awaited) => emit({ type: "league_waiting", league_id, awaited }),
    },
  });
  const joining = joiningOf(core, policy);
  const registration = createRegistration({
    ledger,
    policy,
    ids,
    machineAddresses: currentAddresses,
    hasLeft: hasLeft(peers, clock, ids, config.leagues[0]?.league_id ?? ""),
    silentReferees: effects.silentReferees,
    matchesOf: effects.matchesOf,
    inboxUrl: inbox.inboxUrl,
    pageUrls: joining.addresses,
    onRegistered: effects.onRefereeRegistered,
  });
  const readable = readSide(core, projections, seeds, startRule);
  const register: HostingOptions["register"] = (request, caller) =>
    registration.player(request, caller, { isHosted: true });
  const hosting = createHosting({ ledger, inboxes, homes: ALONE.homes, register, ...readable }, self);
  const api = createApi({
    metrics: managerMetrics({ ...effects, ledger, commands: core.commands, clock }),
    ...{ config, ledger, registration, policy, clock, ids, log, inboxes, others: ALONE, ...readable },
    ...{ operatorToken: operator.token, seats: hosting.seats, openEventStream: network.openEventStream },
    joining,
    gamesAt: () => pagesOfReferees(ledger.state.agents, effects.silentReferees()),
  });
  const stopFeed = liveFeed({ ledger, projections, log, emit, onCommitted: api.notifyChanged });
  return {
    serving: api.serving,
    operatorFile: operator.file,
    async start() {
      for (const event of liveEventsAtStart(projections, dataFolder)) emit(event);
      await registerListedPlayers({ config, ledger, register: registration.player, warn: self.warn });
      hosting.start();
      effects.start();
    },
    stopFeed,
    async stop() {
      await effects.stop();
      hosting.stop();
      await api.close();
      await inbox.close();
    },
  };
}

/** The seeds of the leagues and matches of a run. */
const seedsOf = ({ seed }: RunIdentity): Pick<Views, "seedOf" | "leagueSeedOf"> => ({
  seedOf: matchSeeds(seed),
  leagueSeedOf: (leagueId) => leagueSeed(seed, leagueId),
});

/** The read access of the API to the state and the store. */
const readSide = (
  { store, ledger }: Core,
  projections: Projections,
  seeds: Pick<Views, "seedOf" | "leagueSeedOf">,
  startRule: StartRule,
): Pick<ApiOptions, "views" | "readEvents"> => ({
  views: {
    ...{ projections, ...seeds },
    awaited: (league) => awaitedBy(ledger.state, startRule, league),
    logOf: async (leagueId, matchId) => (await store.sessionLogOf(leagueId, matchId))?.log ?? [],
    answerTimesOf: (...matches) => store.answerTimesOf(...matches),
  },
  readEvents: async (leagueId, after, limit) => {
    const events = await store.readEvents(leagueStream(leagueId), after, limit);
    return events.map(({ body }) => JSON.parse(body) as LeagueEvent);
  },
});
