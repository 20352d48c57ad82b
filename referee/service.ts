import type { z } from "zod";
import { lazily } from "#shared/lib/lazy.ts";
import { invariant } from "#shared/lib/result.ts";
import { counted } from "#shared/lib/text.ts";
import { hostsOf } from "#shared/protocol/addresses.ts";
import type { Listening } from "#shared/rpc/http/http-server.ts";
import { listenHostFor } from "#shared/rpc/http/machine-addresses.ts";
import { CREATIONS_PER_MINUTE, creationLimit, REQUESTS_PER_MINUTE, rateLimit } from "#shared/rpc/jsonrpc/rate-limit.ts";
import type { McpEndpoint } from "#shared/rpc/mcp/mcp-endpoint.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { listen, portSettingOf, webApp } from "#shared/runtime/agent-server.ts";
import { showingGameFaults } from "#shared/runtime/game-faults.ts";
import { isManager } from "./operations/context.ts";
import { GAME_CREATIONS } from "./operations/operations.ts";
import { ServiceOptions } from "./options.ts";
import { composeParts, type Parts } from "./parts.ts";
import { type Identity, leaveManager, registerReferee } from "./registration.ts";
import type { Streams } from "./rest/streams.ts";
import { startHousekeeping } from "./sessions/housekeeping.ts";
import { loadAdvice } from "./sessions/rejections.ts";
import { openStore } from "./store.ts";

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
  const { restContext, restRoutes } = await import("./rest/routes.ts");
  const { sessionSocket } = await import("./rest/session-socket.ts");
  const { Streams } = await import("./rest/streams.ts");
  const { restState } = await import("./views/rest-views.ts");
  const { server, parts } = openedOf(service);
  const { host, agents, sessions, replies, waits, room } = parts;
  const { options, creations, streams } = service;
  const { log, clock, ids } = service.self;
  const sessionStreams = new Streams(host, { event: "state", view: restState }, clock);
  const pages = await room.pages();
  streams.push(sessionStreams, ...pages.streams);
  const rest = restContext({
    ...{ host, agents, sessions, replies, waits, log, clock, ids, creations },
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
