import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  type AuthInfo,
  createMcpHandler,
  createRequestStateCodec,
  isInitializeRequest,
  isLegacyRequest,
  legacyStatelessFallback,
  type Server,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Clock } from "../../lib/clock.ts";
import type { Ids } from "../../lib/ids.ts";
import type { HttpContext } from "../jsonrpc/http.ts";
import { INVALID_PARAMS } from "../jsonrpc/json-rpc.ts";
import { authOf } from "./auth.ts";
import { type DirectCalls, directCalls } from "./direct.ts";
import type { Era } from "./input.ts";
import type { SdkHandler } from "./route.ts";
import { type McpService, serverOf, unknownResource } from "./server.ts";
import { SESSION_LIMITS, type SessionLimits, SessionTable } from "./session-table.ts";

/** MCP clients of both eras at one endpoint: sessions of 2024-11-05 to 2025-11-25, and the stateless 2026-07-28. */
export interface McpSessions {
  readonly direct: DirectCalls;
  /** Whether a request is of a revision with sessions (2024-11-05 to 2025-11-25), by the SDK's rules. */
  isOfSessionRevision(request: IncomingMessage, body: unknown): Promise<boolean>;
  /** Whether a body begins a session. */
  isInitialize(body: unknown): boolean;
  /** Answers one request of an MCP client; `body` is parsed JSON, undefined for GET and DELETE. */
  handle(
    handler: SdkHandler,
    request: IncomingMessage,
    response: ServerResponse,
    body: unknown,
    http: HttpContext,
  ): Promise<void>;
  /** Tells whoever has subscribed to a resource that it has changed. */
  changed(uri: string): void;
  close(): Promise<void>;
}

interface Session {
  readonly remoteAddress: string;
  readonly transport: NodeStreamableHTTPServerTransport;
  readonly server: Server;
  readonly subscriptions: Set<string>;
  /** Calls whose answer is awaited. */
  readonly calls: Set<ServerResponse>;
  /** The streams of GET, which stay open while nothing happens. */
  readonly streams: Set<ServerResponse>;
  /** When it last asked or was answered something. */
  usedAt: number;
  /** Whether anything has come since `initialize`. */
  isUsed: boolean;
  isPinged: boolean;
}

/** When a session is taken for forgotten, milliseconds. */
interface SessionTimes {
  readonly idle: number;
  /** The same for a session in which nothing has come since `initialize`. */
  readonly unused: number;
  readonly lookEvery: number;
  /** How long a client whose stream is open may take to say that it is still there. */
  readonly ping: number;
}

const TIMES: SessionTimes = { idle: 10 * 60_000, unused: 45_000, lookEvery: 15_000, ping: 60_000 };
/** A game that was left over night goes on the next day. */
const STATE_TTL_S = 30 * 24 * 3600;
/** How long a stopping server lets the answers under way go out. */
const LAST_ANSWERS_MS = 300;
/** How soon a client may reconnect to a stream that can be resumed. */
const RETRY_MS = 500;

/**
 * The SDK's transports before one service. Nothing of it is written twice: each method is the plain router's own. A session
 * whose client has left without a word is collected when it has been idle; one that holds a stream is asked first whether it is
 * there, because a client that hangs or has lost its network closes nothing. A session that awaits an answer is kept. One in which
 * nothing has come since `initialize` is collected within a minute.
 */
export function mcpSessions(
  service: McpService,
  onError: (error: unknown) => void,
  clock: Clock,
  ids: Ids,
  times: SessionTimes = TIMES,
  limits: SessionLimits = SESSION_LIMITS,
): McpSessions {
  const sessions = new Map<string, Session>();
  const answering = new Set<Promise<void>>();
  const states = createRequestStateCodec({ key: service.stateKey, ttlSeconds: STATE_TTL_S });
  const build = (era: Era, subscriptions?: Set<string>): Server =>
    serverOf(service, { era, subscriptions, states }, onError);
  // Their own error callbacks tell of what callers did wrong; what we did wrong comes through `serverOf`.
  const modern = createMcpHandler(() => build("modern"), { legacy: "reject" });
  const answerModern = toNodeHandler(modern, { onerror: onError });
  const answerStateless = toNodeHandler({ fetch: legacyStatelessFallback(() => build("stateless")) });

  const collect = ({ transport, calls, streams }: Session): void => {
    void transport.close();
    // A reader that has stopped would keep its connection for ever.
    for (const response of [...calls, ...streams]) response.destroy();
  };
  const table = new SessionTable<Session>(limits, collect);

  const ping = async (session: Session): Promise<void> => {
    const { usedAt } = session;
    session.isPinged = true;
    try {
      await session.server.request({ method: "ping" }, { timeout: times.ping });
      session.usedAt = clock.monotonic();
    } catch {
      if (session.usedAt === usedAt && session.calls.size === 0) collect(session);
    } finally {
      session.isPinged = false;
    }
  };

  const stopLooking = clock.every(times.lookEvery, () => {
    const now = clock.monotonic();
    for (const session of table.all) {
      const idleMs = now - session.usedAt;
      if (idleMs <= (session.isUsed ? times.idle : times.unused) || session.calls.size > 0 || session.isPinged)
        continue;
      if (session.streams.size > 0) void ping(session);
      else collect(session);
    }
  });

  const begin = async (remoteAddress: string): Promise<Session> => {
    const subscriptions = new Set<string>();
    const server = build("session", subscriptions);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => ids.uuid(),
      onsessioninitialized: (id) => void sessions.set(id, session),
      ...(service.eventStore && { eventStore: service.eventStore(), retryInterval: RETRY_MS }),
    });
    const session: Session = {
      remoteAddress,
      transport,
      server,
      subscriptions,
      calls: new Set(),
      streams: new Set(),
      usedAt: clock.monotonic(),
      isUsed: false,
      isPinged: false,
    };
    server.onclose = () => {
      sessions.delete(transport.sessionId ?? "");
      table.delete(session);
    };
    table.add(session); // before the first wait, so that requests that come together count each other
    await server.connect(transport);
    return session;
  };

  const inSession = async (
    session: Session,
    request: IncomingMessage,
    response: ServerResponse,
    body: unknown,
  ): Promise<void> => {
    if (response.closed) return; // it left before it was its turn, and will not say so again
    const open = request.method === "GET" ? session.streams : session.calls;
    open.add(response);
    response.once("close", () => {
      open.delete(response);
      session.usedAt = clock.monotonic();
    });
    await session.transport.handleRequest(request, response, body);
  };

  /** The session that the header names, if it is open. */
  const openSession = ({ headers }: IncomingMessage): Session | undefined =>
    sessions.get(headers["mcp-session-id"] as string);

  const handlers: Readonly<Record<SdkHandler, SdkCall>> = {
    async session(request, response, body) {
      const session = openSession(request);
      if (!session) return refuse(response, 404, body, "Session not found");
      session.isUsed = true;
      await inSession(session, request, response, body);
    },
    async "new session"(request, response, body, { remoteAddress }) {
      if (!table.makeRoom(remoteAddress))
        return refuse(response, 503, body, "Too many open sessions: close one, or try again later");
      const session = await begin(remoteAddress);
      await inSession(session, request, response, body);
      if (session.transport.sessionId === undefined) await session.transport.close(); // its `initialize` was refused
    },
    async "no session"(request, response, body) {
      await answerStateless(request, response, body);
    },
    async stateless(request, response, body) {
      const unknown = subscribedUris(body).find((uri) => !service.isSubscribable(uri));
      if (unknown !== undefined) return refuse(response, 400, body, unknownResource(unknown), INVALID_PARAMS);
      await answerModern(request, response, body);
    },
  };

  return {
    direct: directCalls(service, onError),
    isOfSessionRevision: async (request, body) => isLegacyRequest(await toWebRequest(asNamed(request), body), body),
    isInitialize: (body) => (Array.isArray(body) ? body : [body]).some(isInitializeRequest),
    async handle(handler, request, response, body, http) {
      if (request.method === "POST") {
        const answered = new Promise<void>((resolve) => response.once("close", resolve));
        answering.add(answered);
        void answered.then(() => answering.delete(answered));
      }
      await handlers[handler](Object.assign(asNamed(request), { auth: authOf(http) }), response, body, http);
    },
    changed(uri) {
      modern.notify.resourceUpdated(uri);
      for (const { server, subscriptions } of sessions.values()) {
        if (subscriptions.has(uri)) server.sendResourceUpdated({ uri }).catch(onError);
      }
    },
    async close() {
      stopLooking();
      const late = new AbortController();
      await Promise.race([Promise.all(answering), clock.pause(LAST_ANSWERS_MS, late.signal)]);
      late.abort();
      await modern.close();
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
}

/** One of the SDK's ways to answer a request. */
type SdkCall = (
  request: NamedRequest & { readonly auth: AuthInfo },
  response: ServerResponse,
  body: unknown,
  http: HttpContext,
) => Promise<void>;

type NamedRequest = IncomingMessage & { method: string; url: string };

/** The SDK wants both where Node says that they may be missing; those of a server have them. */
const asNamed = (request: IncomingMessage): NamedRequest =>
  Object.assign(request, { method: request.method ?? "", url: request.url ?? "" });

const Listen = z.object({
  method: z.literal("subscriptions/listen"),
  params: z.object({ notifications: z.object({ resourceSubscriptions: z.array(z.string()) }) }),
});

/** The URIs that a request of the era without sessions subscribes to. */
const subscribedUris = (body: unknown): readonly string[] =>
  Listen.safeParse(body).data?.params.notifications.resourceSubscriptions ?? [];

function refuse(response: ServerResponse, status: number, body: unknown, message: string, code = -32001): void {
  const id = (body as { id?: unknown } | null | undefined)?.id ?? null;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
}
