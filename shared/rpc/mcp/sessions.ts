import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  type AuthInfo,
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  legacyStatelessFallback,
  type Server,
} from "@modelcontextprotocol/server";
import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { isLoopback, networkOf } from "#shared/protocol/addresses.ts";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import { INVALID_PARAMS } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { type DirectCalls, directCalls } from "./direct-calls.ts";
import {
  authOf,
  type Era,
  type McpService,
  requestStates,
  serverOf,
  subscribedUris,
  unknownResource,
} from "./sdk-server.ts";

/** The handler of the SDK that answers a request of an MCP client. */
export type SdkHandler =
  /** The session that the request names. If it is not open, `initialize` opens a session, and other requests are answered with 404. */
  | "session"
  /** A new session, which the request opens. */
  | "new session"
  /** A server for this request only, of a revision with sessions (2024-11-05 to 2025-11-25). */
  | "no session"
  /** The stateless revision (2026-07-28). */
  | "stateless";

/** MCP clients of both eras at one endpoint: sessions of 2024-11-05 to 2025-11-25, and the stateless 2026-07-28. */
export interface McpSessions {
  readonly direct: DirectCalls;
  /** Whether a request is of a revision with sessions (2024-11-05 to 2025-11-25), by the SDK's rules. */
  isOfSessionRevision(request: IncomingMessage, body: unknown): Promise<boolean>;
  /** Whether a body opens a session. */
  isInitialize(body: unknown): boolean;
  /** Answers one request of an MCP client; `body` is parsed JSON, undefined for GET and DELETE. */
  handle(
    handler: SdkHandler,
    request: IncomingMessage,
    response: ServerResponse,
    body: unknown,
    http: HttpContext,
  ): Promise<void>;
  /** Notifies the subscribed clients that a resource has changed. */
  notifyChanged(uri: string): void;
  /** Waits up to `LAST_ANSWERS_MS` for requests that are being answered, then closes all sessions. */
  close(): Promise<void>;
}

const LAST_ANSWERS_MS = 300;
/** The code with which the SDK rejects a session that it does not know. */
const NO_SESSION = -32001;

/**
 * Serves MCP clients with the transports of the SDK. Every method is the method of the plain JSON-RPC router.
 * `onError` receives internal errors. Errors of callers are sent to the callers only.
 */
export function mcpSessions(
  service: McpService,
  onError: (error: unknown) => void,
  clock: Clock,
  ids: Ids,
  times: IdleTimes = IDLE_TIMES,
  limits: SessionLimits = SESSION_LIMITS,
): McpSessions {
  const states = requestStates(service);
  const build = (era: Era, subscriptions?: Set<string>): Server =>
    serverOf(service, { era, subscriptions, states }, onError);
  const sessions = new OpenSessions({
    serverFor: (subscriptions) => build("session", subscriptions),
    eventStore: service.eventStore,
    idPrefix: service.sessionPrefix ?? "",
    limits,
    times,
    clock,
    ids,
  });
  const stateless = createMcpHandler(() => build("stateless"), { legacy: "reject" });
  const handlers: Handlers = {
    ...sessionHandlers(sessions),
    ...sessionlessHandlers(
      service,
      toNodeHandler(stateless, { onerror: onError }),
      toNodeHandler({ fetch: legacyStatelessFallback(() => build("no session")) }),
    ),
  };
  const underWay = new Set<Promise<void>>();
  return {
    direct: directCalls(service, onError),
    isOfSessionRevision: async (request, body) =>
      isLegacyRequest(await toWebRequest(withMethodAndUrl(request), body), body),
    isInitialize,
    async handle(handler, request, response, body, http) {
      if (request.method === "POST") {
        const closed = new Promise<void>((resolve) => response.once("close", resolve));
        underWay.add(closed);
        void closed.then(() => underWay.delete(closed));
      }
      await handlers[handler](Object.assign(withMethodAndUrl(request), { auth: authOf(http) }), response, body, http);
    },
    notifyChanged(uri) {
      stateless.notify.resourceUpdated(uri);
      sessions.notify(uri, onError);
    },
    async close() {
      const settled = new AbortController();
      await Promise.race([Promise.all(underWay), clock.pause(LAST_ANSWERS_MS, settled.signal)]);
      settled.abort();
      await stateless.close();
      await sessions.close();
    },
  };
}

const isInitialize = (body: unknown): boolean => (Array.isArray(body) ? body : [body]).some(isInitializeRequest);

type RequestWithUrl = IncomingMessage & { method: string; url: string };

/** The SDK requires method and URL, which every request of a server has. */
const withMethodAndUrl = (request: IncomingMessage): RequestWithUrl =>
  Object.assign(request, { method: request.method ?? "", url: request.url ?? "" });

type Handler = (
  request: RequestWithUrl & { readonly auth: AuthInfo },
  response: ServerResponse,
  body: unknown,
  http: HttpContext,
) => Promise<void>;

type Handlers = Readonly<Record<SdkHandler, Handler>>;

function sessionHandlers(sessions: OpenSessions): Pick<Handlers, "session" | "new session"> {
  const open: Handler = async (request, response, body, { remoteAddress }) => {
    const isOpened = await sessions.open(remoteAddress, request, response, body);
    if (!isOpened) reject(response, 503, body, "Too many open sessions: close one, or try again later");
  };
  return {
    async session(request, response, body, http) {
      const session = sessions.named(request);
      if (session) await session.handle(request, response, body);
      // Some clients send the id of their ended session with the `initialize` that opens the next one.
      else if (isInitialize(body)) await open(request, response, body, http);
      else reject(response, 404, body, "Session not found");
    },
    "new session": open,
  };
}

type NodeHandler = ReturnType<typeof toNodeHandler>;

const sessionlessHandlers = (
  { isSubscribable }: McpService,
  answerStateless: NodeHandler,
  answerWithoutSession: NodeHandler,
): Pick<Handlers, "no session" | "stateless"> => ({
  async "no session"(request, response, body) {
    await answerWithoutSession(request, response, body);
  },
  async stateless(request, response, body) {
    const unknown = subscribedUris(body).find((uri) => !isSubscribable(uri));
    if (unknown === undefined) await answerStateless(request, response, body);
    else reject(response, 400, body, unknownResource(unknown), INVALID_PARAMS);
  },
});

function reject(response: ServerResponse, status: number, body: unknown, message: string, code = NO_SESSION): void {
  const id = (body as { id?: unknown } | null | undefined)?.id ?? null;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
}

interface OpenSessionsOptions {
  /** Returns a server for one session, which keeps the client's subscriptions in the given set. */
  readonly serverFor: (subscriptions: Set<string>) => Server;
  readonly eventStore: McpService["eventStore"];
  /** The beginning of the ids of sessions. */
  readonly idPrefix: string;
  readonly limits: SessionLimits;
  readonly times: IdleTimes;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The minimum pause before a client reconnects to a stream that can be resumed. */
const RETRY_MS = 500;

/** The open MCP sessions of one endpoint. */
class OpenSessions {
  readonly #options: OpenSessionsOptions;
  readonly #byId = new Map<string, McpSession>();
  readonly #table: SessionTable<McpSession>;
  readonly #stopChecks: () => void;

  constructor(options: OpenSessionsOptions) {
    this.#options = options;
    this.#table = new SessionTable(options.limits, (session) => session.destroy());
    this.#stopChecks = options.clock.every(options.times.checkEveryMs, () => {
      for (const session of this.#table.all) session.checkIdle(options.times);
    });
  }

  /** The session that the header `Mcp-Session-Id` names, if it is open. */
  named({ headers }: IncomingMessage): McpSession | undefined {
    return this.#byId.get(headers["mcp-session-id"] as string);
  }

  /** Answers an `initialize` and opens its session. Returns false, without an answer, if the table of sessions is full. */
  async open(
    remoteAddress: string,
    request: IncomingMessage,
    response: ServerResponse,
    body: unknown,
  ): Promise<boolean> {
    if (!this.#table.makeRoom(remoteAddress)) return false;
    const session = this.#create(remoteAddress);
    this.#table.add(session); // before the first await, so that concurrent requests count each other
    await session.initialize(request, response, body);
    return true;
  }

  #create(remoteAddress: string): McpSession {
    const { serverFor, eventStore, idPrefix, clock, ids } = this.#options;
    const subscriptions = new Set<string>();
    const server = serverFor(subscriptions);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => `${idPrefix}${ids.uuid()}`,
      onsessioninitialized: (id) => void this.#byId.set(id, session),
      ...(eventStore && { eventStore: eventStore(), retryInterval: RETRY_MS }),
    });
    const session = new McpSession({ remoteAddress, transport, server, subscriptions, clock });
    server.onclose = () => {
      this.#byId.delete(transport.sessionId ?? "");
      this.#table.delete(session);
    };
    return session;
  }

  /** Notifies the subscribed clients that a resource has changed. */
  notify(uri: string, onError: (error: unknown) => void): void {
    for (const session of this.#byId.values()) session.notify(uri).catch(onError);
  }

  async close(): Promise<void> {
    this.#stopChecks();
    await Promise.all([...this.#byId.values()].map((session) => session.close()));
  }
}

/** The times after which an idle session is closed. */
interface IdleTimes {
  readonly idleMs: number;
  /** The limit for a session that has received nothing since `initialize`. */
  readonly unusedMs: number;
  readonly checkEveryMs: number;
  /** The time limit for the answer to a ping, for a client with an open stream. */
  readonly pingMs: number;
}

const IDLE_TIMES: IdleTimes = { idleMs: 10 * 60_000, unusedMs: 45_000, checkEveryMs: 15_000, pingMs: 60_000 };

interface SessionParts {
  /** The address that opened the session. */
  readonly remoteAddress: string;
  readonly transport: NodeStreamableHTTPServerTransport;
  readonly server: Server;
  /** The URIs that the client has subscribed to; `server` changes them. */
  readonly subscriptions: ReadonlySet<string>;
  readonly clock: Clock;
}

/** The session of one MCP client of a revision with sessions (2024-11-05 to 2025-11-25). */
class McpSession {
  readonly remoteAddress: string;
  readonly #transport: NodeStreamableHTTPServerTransport;
  readonly #server: Server;
  readonly #subscriptions: ReadonlySet<string>;
  readonly #clock: Clock;
  /** Responses to requests that are being answered. */
  readonly #calls = new Set<ServerResponse>();
  /** Responses to GET: event streams. An idle client keeps its stream open. */
  readonly #streams = new Set<ServerResponse>();
  /** The time of the last request or the end of the last response, on the monotonic clock. */
  #usedAt: number;
  /** Whether the session has received a request after `initialize`. */
  #isUsed = false;
  #isPinged = false;

  constructor({ remoteAddress, transport, server, subscriptions, clock }: SessionParts) {
    this.remoteAddress = remoteAddress;
    this.#transport = transport;
    this.#server = server;
    this.#subscriptions = subscriptions;
    this.#clock = clock;
    this.#usedAt = clock.monotonic();
  }

  get calls(): ReadonlySet<unknown> {
    return this.#calls;
  }

  get streams(): ReadonlySet<unknown> {
    return this.#streams;
  }

  get usedAt(): number {
    return this.#usedAt;
  }

  /** Answers a request after `initialize`. */
  async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    this.#isUsed = true;
    await this.#answer(request, response, body);
  }

  /** Answers the request that opens the session. Closes the session if the SDK rejects the request. */
  async initialize(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    await this.#server.connect(this.#transport);
    await this.#answer(request, response, body);
    if (this.#transport.sessionId === undefined) await this.#transport.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    if (response.closed) return; // "close" has been emitted already, so the response would never be removed
    const responses = request.method === "GET" ? this.#streams : this.#calls;
    responses.add(response);
    response.once("close", () => {
      responses.delete(response);
      this.#usedAt = this.#clock.monotonic();
    });
    await this.#transport.handleRequest(request, response, body);
  }

  /** Notifies the client of a changed resource if it has subscribed to the resource. */
  async notify(uri: string): Promise<void> {
    if (this.#subscriptions.has(uri)) await this.#server.sendResourceUpdated({ uri });
  }

  /**
   * Closes the session if it is idle. A client with an open stream is pinged first, because a client that hangs or has lost its network
   * does not close its stream. A session with an unanswered request is kept.
   */
  checkIdle({ idleMs, unusedMs, pingMs }: IdleTimes): void {
    const limitMs = this.#isUsed ? idleMs : unusedMs;
    if (this.#calls.size > 0 || this.#isPinged || this.#clock.monotonic() - this.#usedAt <= limitMs) return;
    if (this.#streams.size > 0) void this.#ping(pingMs);
    else this.destroy();
  }

  async #ping(timeoutMs: number): Promise<void> {
    const usedAt = this.#usedAt;
    this.#isPinged = true;
    try {
      await this.#server.request({ method: "ping" }, { timeout: timeoutMs });
      this.#usedAt = this.#clock.monotonic();
    } catch {
      if (this.#usedAt === usedAt && this.#calls.size === 0) this.destroy();
    } finally {
      this.#isPinged = false;
    }
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  /** Closes the session and its connections. Otherwise a client that does not read would keep its connection open indefinitely. */
  destroy(): void {
    void this.#transport.close();
    for (const response of [...this.#calls, ...this.#streams]) response.destroy();
  }
}

/** The properties of a session that the table reads. */
export interface TableSession {
  /** The address that opened the session. */
  readonly remoteAddress: string;
  /** The requests that are not answered yet. */
  readonly calls: ReadonlySet<unknown>;
  /** The open event streams of GET requests. An idle client keeps its stream open. */
  readonly streams: ReadonlySet<unknown>;
  /** The time of the last use, on the monotonic clock. */
  readonly usedAt: number;
}

interface SessionLimits {
  /** The maximum number of sessions. */
  readonly total: number;
  /** The maximum number of sessions of one remote network. Sessions of loopback are limited by the total only. */
  readonly perNetwork: number;
}

const SESSION_LIMITS: SessionLimits = { total: 5_000, perNetwork: 200 };

/**
 * The open sessions of one endpoint. At a limit, a new session replaces the longest idle one, so that callers with abandoned sessions do not
 * prevent new ones. A session with an open stream or call is not replaced.
 */
export class SessionTable<One extends TableSession> {
  readonly #all = new Set<One>();
  readonly #networks = new Map<string, Set<One>>();
  readonly #limits: SessionLimits;
  readonly #evict: (session: One) => void;

  constructor(limits: SessionLimits, evict: (session: One) => void) {
    this.#limits = limits;
    this.#evict = evict;
  }

  get all(): Iterable<One> {
    return this.#all;
  }

  /** Makes room for a session from this address, by an eviction if necessary. Returns whether there is room. */
  makeRoom(remoteAddress: string): boolean {
    const networkSessions = isLoopback(remoteAddress) ? undefined : this.#networks.get(networkOf(remoteAddress));
    if (networkSessions && networkSessions.size >= this.#limits.perNetwork)
      return this.#evictLongestIdle(networkSessions);
    return this.#all.size < this.#limits.total || this.#evictLongestIdle(this.#all);
  }

  add(session: One): void {
    this.#all.add(session);
    const network = networkOf(session.remoteAddress);
    const networkSessions = this.#networks.get(network) ?? new Set();
    this.#networks.set(network, networkSessions.add(session));
  }

  delete(session: One): void {
    this.#all.delete(session);
    const network = networkOf(session.remoteAddress);
    const networkSessions = this.#networks.get(network);
    networkSessions?.delete(session);
    if (networkSessions?.size === 0) this.#networks.delete(network);
  }

  #evictLongestIdle(sessions: Iterable<One>): boolean {
    let longestIdle: One | null = null;
    for (const session of sessions) {
      if (session.calls.size > 0 || session.streams.size > 0) continue;
      if (longestIdle === null || session.usedAt < longestIdle.usedAt) longestIdle = session;
    }
    if (longestIdle === null) return false;
    this.delete(longestIdle);
    this.#evict(longestIdle);
    return true;
  }
}
