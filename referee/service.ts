import { join } from "node:path";
import type { z } from "zod";
import { withoutVersion } from "#shared/games/game.ts";
import { knownGameIds } from "#shared/games/registry.ts";
import { type Cancel, type Clock, throwLater } from "#shared/lib/clock.ts";
import { lazily } from "#shared/lib/lazy.ts";
import { invariant } from "#shared/lib/result.ts";
import { counted, flat } from "#shared/lib/text.ts";
import { hostsOf } from "#shared/protocol/addresses.ts";
import { type DialectClient, withDialects } from "#shared/rpc/dialects/dialect-peers.ts";
import { foreignMessages } from "#shared/rpc/dialects/incoming.ts";
import type { Listening } from "#shared/rpc/http/http-server.ts";
import { listenHostFor } from "#shared/rpc/http/machine-addresses.ts";
import { CREATIONS_PER_MINUTE, creationLimit, REQUESTS_PER_MINUTE, rateLimit } from "#shared/rpc/jsonrpc/rate-limit.ts";
import { type McpEndpoint, mcpEndpoint } from "#shared/rpc/mcp/mcp-endpoint.ts";
import { toolsOf } from "#shared/rpc/mcp/operations.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { listen, portSettingOf, webApp } from "#shared/runtime/agent-server.ts";
import type { AgentStore } from "#shared/runtime/files/disk.ts";
import { showingGameFaults } from "#shared/runtime/game-faults.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { VERSION } from "#shared/runtime/program.ts";
import { readOrCreateSecret } from "#shared/runtime/secret-file.ts";
import type { Session } from "#shared/session/session.ts";
import { CODENAMES_SCHEMA } from "./codenames/codenames-table.ts";
import { MATCH_SCHEMA, matchTable } from "./match/match-table.ts";
import type { HostedDriver } from "./match/play-match.ts";
import { answerHandlers, createAsker } from "./match/player-messages.ts";
import { createReferee, type Referee } from "./match/referee.ts";
import {
  GAME_CREATIONS,
  isManager,
  notificationOperations,
  type RefereeContext,
  refereeOperations,
  rejectingNotLoaded,
  rejectingNotLoadedTemplate,
} from "./operations.ts";
import { ServiceOptions } from "./options.ts";
import { REMATCH_SCHEMA } from "./play/rematch.ts";
import { openPlayRoom, type PlayRoom } from "./play-room.ts";
import { type Identity, leaveManager, registerReferee } from "./registration.ts";
import { changedBy, gameRules, refereeTemplates } from "./resources.ts";
import type { Streams } from "./rest/streams.ts";
import { type AgentDirectory, agentDirectory } from "./sessions/agent-tokens.ts";
import { createHost, createWaits, type SessionHost, type Waits } from "./sessions/host.ts";
import { REPLY_SCHEMA, type Replies, sqliteReplies } from "./sessions/idempotent-replies.ts";
import { loadAdvice } from "./sessions/rejections.ts";
import { SEAT_SCHEMA, seatTable } from "./sessions/seats.ts";
import { SESSION_SCHEMA, type SessionLists, sessionLists, sessionStore } from "./sessions/session-store.ts";
import { restState } from "./views.ts";

/** The state that the server of a referee uses. */
interface Service {
  readonly options: ServiceOptions;
  readonly self: AgentProcess;
  readonly identity: Identity;
  readonly creations: ReturnType<typeof creationLimit>;
  /** Set in the same turn of the event loop in which the server begins to listen, so before it reads a request. */
  opened: Opened | null;
  /** The event streams of REST and of the pages; empty until they are loaded. */
  readonly streams: Pick<Streams, "close">[];
}

interface Opened {
  readonly server: Listening;
  readonly parts: Parts;
}

interface RunningReferee extends RunningAgent {
  /** The address of its pages. */
  readonly pages: string;
  readonly mcp: McpEndpoint;
  readonly rejections: Listening["rejections"];
}

/**
 * Starts a referee, or without a manager a session host. Resolves when it listens and its store is open; `pages` is the URL of its pages.
 * Registration continues in the background and resumes the matches that are still assigned to it; its StartError ends the process.
 * Rejects with StartError if no port is free or the store cannot be opened.
 */
export async function startReferee(
  given: z.input<typeof ServiceOptions>,
  agent: AgentProcess,
): Promise<RunningReferee> {
  const options = ServiceOptions.parse(given);
  const { manager, expireAfterMs } = options;
  const self: AgentProcess = { ...agent, log: showingGameFaults(agent) };
  const { clock, log } = self;
  const identity: Identity = { id: "new", token: null };
  const creations = creationLimit(CREATIONS_PER_MINUTE.referee, options.limitLoopback);
  const service: Service = { options, self, identity, creations, streams: [], opened: null };
  const server = await listenFor(service);
  // The name of the store may depend on the port, so it is opened after the server.
  const store = await orClose(server, () => openStore(options, server.port, self));
  const parts = composeParts(options, store, server, identity, self);
  service.opened = { server, parts };
  const { host, replies, room } = parts;
  const stopHousekeeping = startHousekeeping({ host, replies, expireAfterMs, log, clock });
  self.say(manager === null ? `session host at ${server.urls.join(", ")}` : `referee at ${server.urls[0]}/mcp`);
  self.report({ type: "ready", url: server.url });
  for (const [game, count] of host.notLoaded())
    self.warn(`${counted(count, "session", "sessions")} of ${game} cannot be continued: ${loadAdvice}`);
  room.open();
  const stopping = new AbortController();
  if (manager !== null) {
    registerReferee(options, manager, server, parts, identity, self, stopping.signal).catch((thrown) => {
      if (!stopping.signal.aborted) throw thrown; // ends the process with its message
    });
  }
  return {
    leave: async () => {
      stopping.abort();
      if (manager !== null) await leaveManager({ manager, parts, identity, self });
    },
    pages: parts.pagesUrl,
    mcp: parts.mcp,
    rejections: server.rejections,
    async stop() {
      stopping.abort();
      stopHousekeeping();
      for (const streams of service.streams) streams.close();
      parts.waits.close();
      await room.close();
      await parts.mcp.close();
      await parts.referee.stop();
      await server.close();
      await parts.peers.close();
      await store.close();
    },
  };
}

function listenFor(service: Service): Promise<Listening> {
  const { options, self, identity, creations } = service;
  const { manager, limitLoopback } = options;
  const rest = lazily("the REST API and the pages", () => loadRest(service));
  return listen(self.network, {
    log: self.log,
    host: options.host ?? listenHostFor(manager, self.network.interfaces()),
    allowedHosts: hostsOf(options.endpoint),
    allowedOrigins: options.allowedOrigins,
    ports: options.ports,
    portSetting: portSettingOf("referees.firstPort"),
    handler: (body, http) => partsOf(service).mcp.handler(body, http),
    sessions: () => partsOf(service).mcp.sessions(),
    gate: rateLimit({
      perMinute: REQUESTS_PER_MINUTE.referee,
      loopback: limitLoopback,
      isTrusted: ({ token, subject }) => {
        const { context, room } = partsOf(service);
        return isManager(context, token, subject) || room.isSeated(token);
      },
      creations: { limit: creations, requests: GAME_CREATIONS },
    }),
    isReady: () => manager === null || identity.token !== null,
    web: webApp(self.log, async (app) => (await rest()).routes(app)),
    upgrade: async (request) => (await rest()).upgrade(request),
  });
}

/** Loads REST and the pages, on first use, because a referee that only plays league matches does not need them. */
async function loadRest(service: Service) {
  const { restContext, restRoutes } = await import("./rest/rest-routes.ts");
  const { sessionSocket } = await import("./rest/session-socket.ts");
  const { Streams } = await import("./rest/streams.ts");
  const { server, parts } = openedOf(service);
  const { host, agents, sessions, replies, waits, room } = parts;
  const { options, creations, streams } = service;
  const { log, clock, ids } = service.self;
  const sessionStreams = new Streams(host, { event: "state", view: restState }, clock);
  const pages = await room.pages();
  streams.push(sessionStreams, ...pages.streams);
  const rest = restContext({
    host,
    agents,
    sessions,
    replies,
    waits,
    log,
    clock,
    ids,
    creations,
    streams: sessionStreams,
    rejections: server.rejections,
    pages: pages.routes,
    limitLoopback: options.limitLoopback,
  });
  return { routes: restRoutes(rest), upgrade: sessionSocket(rest) };
}

function openedOf({ opened }: Service): Opened {
  invariant(opened, "a request was read before the store was open");
  return opened;
}

const partsOf = (service: Service): Parts => openedOf(service).parts;

/** Returns the result of `open`. Closes the server and rejects if `open` throws. */
async function orClose<T>(server: Listening, open: () => T): Promise<T> {
  try {
    return open();
  } catch (thrown) {
    await server.close();
    throw thrown;
  }
}

/** The parts of a referee. */
interface Parts {
  readonly peers: DialectClient;
  readonly host: SessionHost;
  readonly agents: AgentDirectory;
  readonly sessions: SessionLists;
  readonly replies: Replies;
  readonly waits: Waits;
  readonly referee: Referee;
  readonly room: PlayRoom;
  readonly context: RefereeContext;
  readonly mcp: McpEndpoint;
  /** The URL of its pages. */
  readonly pagesUrl: string;
}

/** Creates the parts of a referee with its open store and the server that passes them requests. */
function composeParts(
  options: ServiceOptions,
  { db, writer }: AgentStore,
  server: Listening,
  identity: Identity,
  self: AgentProcess,
): Parts {
  const { clock, ids, log } = self;
  const peers = withDialects(self.network.createPeers(), self.network.comesFrom, clock, ids);
  const seats = seatTable(db);
  const onListenerError = (err: unknown, session: string) =>
    log.error({ err, session }, "a listener threw an error after a commit");
  const host = createHost(
    sessionStore(db, writer),
    clock,
    ids,
    (session) => onCommit(session),
    onListenerError,
    seats.open,
  );
  const tables = {
    agents: agentDirectory(db, writer, clock, ids),
    sessions: sessionLists(db, clock),
    replies: sqliteReplies(db, writer, clock),
    waits: createWaits(host, clock),
  };
  const driver = driverOf(host, peers, server, identity, self);
  const { manager, reportTimeoutMs, maxConcurrentMatches } = options;
  const referee = createReferee({
    driver,
    peers,
    log,
    identity,
    reportTimeoutMs,
    matches: matchTable(db, writer),
    manager: manager ?? "",
    onTokensChanged: tables.agents.forgetHolders,
  });
  const pagesUrl = options.endpoint?.replace(/\/mcp$/, "") ?? server.urls[0] ?? server.url;
  const room = openPlayRoom({
    db,
    writer,
    seats,
    ...tables,
    driver,
    referee,
    options,
    self,
    leaguesAt: () => identity.managerPages ?? [],
    url: pagesUrl,
  });
  const context = { host, referee, identity, maxConcurrentMatches, play: room.play };
  const mcp = endpointOf(options, context, room, server, self, peers);
  const onCommit = (session: Session): void =>
    mcp.notifyChanged(() => [...changedBy(context, session), ...room.changedBy(session)]);
  return { peers, host, referee, room, context, mcp, pagesUrl, ...tables };
}

/** Creates the driver of matches. It writes the faults of players to the log of this process. */
const driverOf = (
  host: SessionHost,
  peers: DialectClient,
  { rejections }: Listening,
  identity: Identity,
  { clock, ids }: AgentProcess,
): HostedDriver => ({
  host,
  asker: createAsker(peers, () => flat("referee:", identity.id), clock, ids),
  clock,
  ids,
  onFault: ({ playerId, endpoint }, { code, cause, detail, systemMessage }, request) =>
    rejections.write(endpoint.split("?", 1)[0] ?? "", {
      code,
      reason: `${cause}: ${detail}${systemMessage ? ` (${systemMessage})` : ""}`,
      agent: `player:${playerId}`,
      request,
    }),
});

function endpointOf(
  { manager, storeName, dataFolder, answerWithinMs }: ServiceOptions,
  context: RefereeContext & { readonly identity: Identity },
  room: PlayRoom,
  { port }: Listening,
  self: AgentProcess,
  { lateAnswers }: Pick<DialectClient, "lateAnswers">,
): McpEndpoint {
  const { clock, ids, log } = self;
  const listing =
    manager === null
      ? { instructions: hostInstructions(), unlisted: LEAGUE_TOOLS }
      : { instructions: refereeInstructions() };
  const surface = {
    // `league mcp` and a host of games without a league are no referees to their clients.
    serverInfo: { name: manager === null ? "session-host" : "referee", version: VERSION },
    tools: toolsOf(
      [...refereeOperations(context), ...room.operations, ...notificationOperations(context)].map(rejectingNotLoaded),
      () => flat("referee:", context.identity.id),
      clock,
      ids,
    ),
    resources: [...room.resources, ...gameRules()],
    templates: [...room.templates, ...refereeTemplates(context)].map(rejectingNotLoadedTemplate),
    answerForeign: foreignMessages(
      answerHandlers(lateAnswers),
      () => flat("referee:", context.identity.id),
      clock,
      ids,
    ),
    stateKey: readOrCreateSecret(self, join(dataFolder, "tokens", `rounds-${storeName ?? port}`)),
    answerWithinMs,
    ...listing,
  };
  return mcpEndpoint(surface, (error) => log.error({ err: error }, "internal error"), clock, ids);
}

/** The part of the MCP instructions about games, for models. */
const gamesInWords =
  (): string => `To play a game, call createGame with a game (${knownGameIds().map(withoutVersion).join(", ")}) and an opponent, and keep the seat_token that it returns. Then repeat: waitForNextTurn until it is your turn, then finishTurn with one of the legal moves, until the game is over. A timeout of waitForNextTurn is normal: call it again. createGame and joinGame return the address of a page where people watch or play the game: show it to your user.
For a game of Codenames in which this server asks the user and the model for each decision, call create_new_game instead. game://rules/{game} has the rules and options of a game.`;

/** Returns the MCP instructions of a session host. */
const hostInstructions = (): string => `This server hosts games between agents, people and bots.\n${gamesInWords()}`;

/** Returns the MCP instructions of a referee. */
const refereeInstructions = (): string =>
  `This server is a referee of a league: it plays the matches that the league manager assigns to it. get_game_state and game://state/{match_id} show a match. It also hosts games outside of the league.\n${gamesInWords()}`;

/** Tools for the league manager. A session host without a league accepts them but does not list them. */
const LEAGUE_TOOLS: ReadonlySet<string> = new Set(["start_game", "league_message"]);

const SCHEMA = SESSION_SCHEMA + MATCH_SCHEMA + REPLY_SCHEMA + SEAT_SCHEMA + REMATCH_SCHEMA + CODENAMES_SCHEMA;

/** Opens the database of the referee at a port. A separate thread writes its commits. Throws StartError if it cannot be opened. */
function openStore({ dataFolder, storeName }: ServiceOptions, port: number, { clock, disk }: AgentProcess): AgentStore {
  const file = join(dataFolder, `${storeName ?? `referee-${port}`}.sqlite`);
  return disk.openStore(file, SCHEMA, {
    isWrittenByThread: true,
    // Ends the process: a referee that cannot write must not ask players for moves.
    onBroken: (error) => throwLater(clock, error),
  });
}

interface HousekeepingOptions {
  readonly host: SessionHost;
  readonly replies: Replies;
  /** A session that its seats play over REST expires when no seat has acted for this time. */
  readonly expireAfterMs: number;
  readonly log: Logger;
  readonly clock: Clock;
}

const INTERVAL_MS = 15_000;
const EVICT_AFTER_MS = 5 * 60_000;

/** Expires idle sessions, evicts them from memory and removes old replies, immediately and then at intervals. Returns a function that stops it. */
function startHousekeeping({ host, replies, expireAfterMs, log, clock }: HousekeepingOptions): Cancel {
  const run = (): void => {
    host.forgetIdle(EVICT_AFTER_MS);
    host
      .expireIdle(expireAfterMs, (session, err) => log.error({ err, session }, "a session could not be expired"))
      .catch((thrown) => log.error({ err: thrown }, "idle sessions could not be expired"));
    replies.forgetOld().catch((thrown) => log.error({ err: thrown }, "old replies could not be removed"));
  };
  run();
  return clock.every(Math.min(INTERVAL_MS, expireAfterMs / 4), run);
}
