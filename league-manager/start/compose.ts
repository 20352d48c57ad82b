import { join } from "node:path";
import type { Clock } from "#shared/lib/clock.ts";
import { err } from "#shared/lib/result.ts";
import { Unavailable } from "#shared/lib/unavailable.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { Listening } from "#shared/rpc/http/http-server.ts";
import { machineAddresses } from "#shared/rpc/http/machine-addresses.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { OPERATOR_TOKEN_LENGTH } from "#shared/runtime/config/config.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { readOrCreateSecret, type Secrets } from "#shared/runtime/secret-file.ts";
import { takesPlayers } from "../agents/admission.ts";
import { awaitedBy, type StartRule } from "../agents/awaited-players.ts";
import type { AdmissionPolicy } from "../agents/places.ts";
import { createRegistration, type Registration } from "../api/agent-registration.ts";
import { type ApiOptions, createApi } from "../api/api.ts";
import { type Cluster, createCluster } from "../cluster/cluster.ts";
import { ALONE } from "../cluster/other-managers.ts";
import { hasLeft } from "../effects/endpoint-check.ts";
import { registerListedPlayers } from "../effects/listed-players.ts";
import { createEffects } from "../effects.ts";
import { createHosting, type HostingOptions } from "../hosted/hosting.ts";
import { isForHome } from "../hosted/play-page.ts";
import { playerAt } from "../inbox/inbox-routes.ts";
import { managerInboxes } from "../inbox/manager-inboxes.ts";
import { type LeagueEvent, leagueStream } from "../league/events.ts";
import { leagueSeed, matchSeeds } from "../league/league.ts";
import type { Ledger } from "../ledger.ts";
import {
  admissionPolicy,
  type ManagerOptions,
  moveLimits,
  numbersOf,
  reservedPlaces,
  settingsLike,
} from "../manager-options.ts";
import { managerMetrics } from "../metrics/manager-metrics.ts";
import { pagesOfReferees } from "../pages/game-links.ts";
import { liveEventsAtStart, liveFeed } from "../projections/live-events.ts";
import { createProjections, type Projections, type Views } from "../projections/projections.ts";
import type { RunIdentity } from "../store/manager-store.ts";
import type { OpenedRun, SharedRun } from "./open-file.ts";

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
    operator,
    projections,
    cluster,
    others,
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
    ledger: core.commands.ledger,
    peers: inbox.peers,
    clock,
    log,
    notice,
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
      ledger,
      policy,
      ids: self.ids,
      network: self.network,
      inboxUrl: inbox.inboxUrl,
      machineAddresses: addressesOf(self),
      hasLeft: hasLeft(inbox.peers, self.clock, self.ids, core.config.leagues[0]?.league_id ?? ""),
      silentReferees: effects.silentReferees,
      matchesOf: effects.matchesOf,
      pageUrls: joiningOf(core, policy).addresses,
      onRegistered: effects.onRefereeRegistered,
    });

/** Creates the effects and the API of a manager. */
export function compose(core: Core, self: AgentProcess) {
  const { config, dataFolder, run, shared, url, onEvent: emit } = core;
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
      ...effects,
      ledger,
      commands: core.commands,
      clock,
      shared: shared && cluster && { ...shared, ...cluster, isAvailable },
    }),
    config,
    ledger: requests,
    registration,
    policy,
    clock,
    ids,
    log,
    inboxes,
    others,
    url,
    ...readable,
    settingsLike: (like, leagueId) => settingsLike(config, run, { like, leagueId, startsAt: null, nowMs: clock.now() }),
    ...readiness.probes,
    operatorToken: operator.token,
    seats: hosting.seats,
    network,
    post: inbox.peers.post,
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
    projections,
    ...seeds,
    awaited: (league) => awaitedBy(ledger.state, startRule, league),
    logOf: async (leagueId, matchId) => (await store.sessionLogOf(leagueId, matchId))?.log ?? [],
    answerTimesOf: (...matches) => store.answerTimesOf(...matches),
  },
  readEvents: async (leagueId, after, limit) => {
    const events = await store.readEvents(leagueStream(leagueId), after, limit);
    return events.map(({ body }) => JSON.parse(body) as LeagueEvent);
  },
});

/** Longer than two checks of a proxy that asks for `/ready` each second, after which the example configurations leave a manager out. */
const LEAVE_MS = 2_500;

/** Whether a manager can answer all requests: it has joined the others, the database answers, and it is not about to stop. */
function readinessOf(cluster: Cluster | null, shared: SharedRun | null, clock: AgentProcess["clock"]) {
  let [hasJoined, isLeaving] = [false, false];
  const isAvailable = (): boolean => cluster === null || (cluster.isJoined() && (shared?.isAvailable() ?? true));
  return {
    isAvailable,
    onJoined() {
      hasJoined = true;
    },
    probes: {
      isReady: () => isAvailable() && !isLeaving,
      whyNotReady: () => (isLeaving ? "stopping" : hasJoined ? "the database does not answer" : null),
    },
    /** Makes one of several managers no longer ready, and waits until a proxy sends its requests to the others. */
    async leave() {
      if (cluster === null || cluster.memberCount() < 2) return;
      isLeaving = true;
      await clock.pause(LEAVE_MS);
    },
  };
}

interface NoticeOptions {
  readonly isAvailable: () => boolean;
  readonly clock: Pick<Clock, "every" | "monotonic">;
  /** Sends a line for people, e.g. to the terminal. */
  readonly notice: (message: string) => void;
}

const CHECK_MS = 500;
const GONE = "the database does not answer; results and registrations wait until it is back";
const BACK = "the database answers again";

/** Checks that are later than this show that the process did not run in between. */
const SUSPENDED_MS = 2_500;
/** The time after a suspension in which the connections to the database recover. */
const RECOVERY_MS = 5_000;

const suspended = (ms: number): string =>
  `this manager was suspended for ${Math.round(ms / 1_000)} s (its process or machine was stopped or overloaded)`;

/**
 * Sends one line when the database does not answer, and one when it is back. A suspended process finds its time limits exceeded when it continues, so
 * that is reported instead, and the database only if it does not answer afterwards. Returns the function that ends this.
 */
export function watchDatabase({ isAvailable, clock, notice }: NoticeOptions): () => void {
  let wasAvailable = true;
  let checkedAt = clock.monotonic();
  let recoversUntil = Number.NEGATIVE_INFINITY;
  return clock.every(CHECK_MS, () => {
    const now = clock.monotonic();
    const passedMs = now - checkedAt;
    checkedAt = now;
    if (passedMs >= SUSPENDED_MS) {
      notice(suspended(passedMs - CHECK_MS));
      recoversUntil = now + RECOVERY_MS;
    }
    const isNow = isAvailable();
    if (isNow === wasAvailable || (!isNow && now < recoversUntil)) return;
    notice(isNow ? BACK : GONE);
    wasAvailable = isNow;
  });
}

/**
 * Returns the ledger for the requests of other programs. A command that the store cannot take now is rejected with the cause, and the caller may repeat
 * it. Effects use the ledger itself: they repeat their commands after an exception.
 */
const requestLedger = (ledger: Ledger): Ledger => ({
  get state() {
    return ledger.state;
  },
  execute: (decide) =>
    ledger.execute(decide).catch((thrown: unknown) => {
      if (!(thrown instanceof Unavailable)) throw thrown;
      return err(protocolError("L001", `${thrown.message}; try again later`, {}, true));
    }),
  onCommit: (listener) => ledger.onCommit(listener),
  settled: () => ledger.settled(),
});

/**
 * Returns the operator token, and the file that stores it with mode 0600. The token is that of the config, else a random one, which is created at
 * the first start. Throws a StartError if it is too short.
 */
function operatorToken(
  configured: string | undefined,
  dataFolder: string,
  secrets: Secrets,
): { token: string; file: string } {
  const file = join(dataFolder, "operator-token");
  if (configured !== undefined) secrets.disk.writeSecret(file, configured);
  const token = configured ?? readOrCreateSecret(secrets, file);
  if (token.length < OPERATOR_TOKEN_LENGTH) {
    throw new StartError(
      `${file}: an operator token has at least ${OPERATOR_TOKEN_LENGTH} characters; delete the file to create a new token`,
      EXIT.config,
    );
  }
  secrets.disk.restrictToOwner(file);
  return { token, file };
}
