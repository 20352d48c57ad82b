import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  type AuthInfo,
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  legacyStatelessFallback,
  type Server,
} from "@modelcontextprotocol/server";
import type { Clock } from "../../lib/clock.ts";
import type { Ids } from "../../lib/ids.ts";
import type { HttpContext } from "../jsonrpc/http-context.ts";
import { INVALID_PARAMS } from "../jsonrpc/json-rpc.ts";
import { authOf } from "./caller-auth.ts";
import { type DirectCalls, directCalls } from "./direct.ts";
import type { Era } from "./input.ts";
import { OpenSessions } from "./open-sessions.ts";
import { type McpService, requestStates, serverOf } from "./server.ts";
import { IDLE_TIMES, type IdleTimes } from "./session.ts";
import { SESSION_LIMITS, type SessionLimits } from "./session-table.ts";
import { subscribedUris, unknownResource } from "./subscriptions.ts";

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
    ...{ limits, times, clock, ids },
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
