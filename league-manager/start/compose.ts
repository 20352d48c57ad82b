import type { Listening } from "#shared/rpc/http/http-server.ts";
import { machineAddresses } from "#shared/rpc/http/machine-addresses.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { awaitedBy, type StartRule } from "../agents/awaited-players.ts";
import { takesPlayers } from "../agents/entries.ts";
import type { AdmissionPolicy } from "../agents/policy.ts";
import { type ApiOptions, createApi } from "../api/api.ts";
import { operatorToken } from "../api/operator-token.ts";
import { createRegistration, type Registration } from "../api/registration.ts";
import { requestLedger } from "../api/request-ledger.ts";
import { type Cluster, createCluster } from "../cluster/cluster.ts";
import { ALONE } from "../cluster/homes.ts";
import { admissionPolicy, moveLimits, numbersOf, reservedPlaces } from "../config.ts";
import { hasLeft } from "../effects/endpoint-check.ts";
import { registerListedPlayers } from "../effects/listed-players.ts";
import { createEffects } from "../effects.ts";
import { createHosting, type HostingOptions } from "../hosted/hosting.ts";
import { isForHome } from "../hosted/page-routes.ts";
import { playerAt } from "../inbox/access.ts";
import { managerInboxes } from "../inbox/manager-inboxes.ts";
import { type LeagueEvent, leagueStream } from "../league/events.ts";
import { leagueSeed, matchSeeds } from "../league/seeds.ts";
import type { Ledger } from "../ledger.ts";
import { managerMetrics } from "../metrics/manager-metrics.ts";
import type { ManagerOptions } from "../options.ts";
import { pagesOfReferees } from "../pages/servers.ts";
import { liveEventsAtStart } from "../projections/live-at-start.ts";
import { liveFeed } from "../projections/live-feed.ts";
import { createProjections, type Projections } from "../projections/projections.ts";
import type { Views } from "../projections/views.ts";
import type { RunIdentity } from "../store/run-identity.ts";
import { watchDatabase } from "./database-notices.ts";
import type { OpenedRun, SharedRun } from "./opened-run.ts";
import { readinessOf } from "./readiness.ts";

/** The parts of a manager that its other parts depend on. */
interface Core extends ManagerOptions, OpenedRun {
  /** Returns the open endpoint; null before the manager listens. */
  readonly listening: () => Listening | null;
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

/** Returns the function that sends a line for people, e.g. to the terminal. */
const noticeOf =
  ({ onEvent }: Core) =>
  (message: string): void =>
    onEvent({ type: "notice", message });

/** Returns this manager among the other managers of its run. */
function clusterOf({ database, secret }: SharedRun, core: Core, projections: Projections, self: AgentProcess): Cluster {
  const notice = noticeOf(core);
  const playerOf = (path: string, bearer: string | null): string | null =>
    isForHome(path) ? (projections.authenticate(bearer)?.id ?? null) : playerAt(path);
  const { config, commands } = core;
  return createCluster({ ...self, database, config, ledger: commands.ledger, secret, playerOf, notice });
}

/** The part of the effects that differs for one of several managers. */
const distributedWork = (shared: SharedRun | null, cluster: Cluster | null) =>
  shared && cluster
    ? {
        queue: shared.queue,
        duties: {
          ownsLeague: (leagueId: string) => cluster.isMine(leagueKey(leagueId)),
          onChange: cluster.onChange,
        },
        signals: {
          send: (text: string) => void shared.database.signal(text).catch(() => {}),
          onSignal: (listener: (text: string) => void) => shared.database.onSignal(listener),
        },
      }
    : {};

/** The key of a league among those that are distributed to the managers. */
const leagueKey = (leagueId: string): string => `league/${leagueId}`;

/** Creates the parts that the effects and the API of a manager use. */
function sharedParts(core: Core, self: AgentProcess) {
  const { config, startWhen, dataFolder, run, shared } = core;
  const { ledger } = core.commands;
  const operator = operatorToken(shared?.operatorToken ?? config.manager.operator_token, dataFolder, self);
  const places = reservedPlaces(config, startWhen, dataFolder, self);
  const projections = createProjections(ledger);
  const cluster = shared && clusterOf(shared, core, projections, self);
  const others = cluster ?? ALONE;
  return {
    ...{ operator, projections, cluster, others },
    startRule: { places, startWhen, minPlayers: numbersOf(config, "min_players") },
    policy: admissionPolicy(config, startWhen, places, operator.token),
    inbox: managerInboxes({ ...core, ledger, homes: others.homes, isAlone: cluster === null }, self),
    seeds: seedsOf(run),
    notice: noticeOf(core),
  };
}

type Parts = ReturnType<typeof sharedParts>;

function effectsOf(core: Core, { cluster, inbox, seeds, notice, startRule }: Parts, self: AgentProcess) {
  const { config, shared, onEvent: emit } = core;
  const { clock, log } = self;
  return createEffects({
    ...{ ledger: core.commands.ledger, peers: inbox.peers, clock, log, notice },
    machineAddresses: addressesOf(self),
    timeouts: config.timeouts,
    moveLimits: moveLimits(config),
    leagueSeedOf: seeds.leagueSeedOf,
    seedOf: ({ leagueId }, { matchId, epoch }) => seeds.seedOf(leagueId, matchId, epoch),
    endpointFor: inbox.endpointFor,
    ...distributedWork(shared, cluster),
    leagueStart: {
      ...startRule,
      onStuck: (league_id, why) => emit({ type: "league_stuck", league_id, why }),
      onWaiting: (league_id, awaited) => emit({ type: "league_waiting", league_id, awaited }),
    },
  });
}

/** Returns the function that returns the current addresses of this machine. */
const addressesOf =
  ({ network }: Pick<AgentProcess, "network">) =>
  () =>
    machineAddresses(network.interfaces());

/** Returns the function that creates the registration of agents by the commands of a ledger. */
const registrations =
  (core: Core, { policy, inbox }: Parts, effects: ReturnType<typeof effectsOf>, self: AgentProcess) =>
  (ledger: Ledger): Registration =>
    createRegistration({
      ...{ ledger, policy, ids: self.ids, network: self.network, inboxUrl: inbox.inboxUrl },
      machineAddresses: addressesOf(self),
      hasLeft: hasLeft(inbox.peers, self.clock, self.ids, core.config.leagues[0]?.league_id ?? ""),
      silentReferees: effects.silentReferees,
      matchesOf: effects.matchesOf,
      pageUrls: joiningOf(core, policy).addresses,
      onRegistered: effects.onRefereeRegistered,
    });

/** Creates the effects and the API of a manager. */
export function compose(core: Core, self: AgentProcess) {
  const { config, dataFolder, shared, url, onEvent: emit } = core;
  const { ledger } = core.commands;
  const { clock, ids, log, network } = self;
  const parts = sharedParts(core, self);
  const { operator, projections, cluster, others, startRule, policy, inbox, seeds, notice } = parts;
  const { inboxes } = inbox;
  const effects = effectsOf(core, parts, self);
  const joining = joiningOf(core, policy);
  const requests = requestLedger(ledger);
  const registrationOn = registrations(core, parts, effects, self);
  const registration = registrationOn(requests);
  const readable = readSide(core, projections, seeds, startRule);
  const register: HostingOptions["register"] = (request, caller) =>
    registration.player(request, caller, { isHosted: true });
  const hosting = createHosting({ ledger: requests, inboxes, homes: others.homes, register, ...readable }, self);
  const readiness = readinessOf(cluster, shared, clock);
  const { isAvailable } = readiness;
  const api = createApi({
    metrics: managerMetrics({
      ...{ ...effects, ledger, commands: core.commands, clock },
      shared: shared && cluster && { ...shared, ...cluster, isAvailable },
    }),
    ...{ config, ledger: requests, registration, policy, clock, ids, log, inboxes, others, url, ...readable },
    ...readiness.probes,
    ...{ operatorToken: operator.token, seats: hosting.seats, network, post: inbox.peers.post },
    joining,
    silentReferees: effects.silentReferees,
    gamesAt: () => pagesOfReferees(ledger.state.agents, effects.silentReferees()),
  });
  let stopNotices = (): void => {};
  const stopFeed = liveFeed({ ledger, projections, log, emit, onCommitted: api.notifyChanged });
  return {
    serving: api.serving,
    operatorFile: operator.file,
    isMine: (leagueId: string) => cluster?.isMine(leagueKey(leagueId)) ?? true,
    /** Joins the other managers, which reach this one at `url`, and starts the effects. */
    async start(url: string) {
      await cluster?.join(url);
      readiness.onJoined();
      if (cluster) stopNotices = watchDatabase({ isAvailable, clock, notice });
      for (const event of liveEventsAtStart(projections, dataFolder)) emit(event);
      await registerListedPlayers({ config, ledger, register: registrationOn(ledger).player, warn: self.warn });
      hosting.start();
      effects.start();
    },
    leave: readiness.leave,
    stopFeed,
    async stop() {
      stopNotices();
      await cluster?.leave();
      await effects.stop();
      hosting.stop();
      await api.close();
      await inbox.close();
      await cluster?.close();
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
  { store, commands: { ledger } }: Core,
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
