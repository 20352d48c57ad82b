import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { lazily } from "../../lib/lazy.ts";
import type { MachineAddresses } from "../../protocol/addresses.ts";
import type { Gate, HttpContext, HttpReply, McpHandler } from "../jsonrpc/http.ts";
import type { RejectionLog } from "../jsonrpc/rejection-log.ts";
import { type McpRoute, routeOf } from "../mcp/route.ts";
import type { McpSessions } from "../mcp/sessions.ts";
import { callerCheck, isJson } from "./caller-check.ts";
import { limitConnections } from "./connection-limit.ts";
import { acceptsStream, bearerOf, collect, goneSignal, pathOf, remoteAddressOf } from "./request.ts";
import { reject, send, sendReply, stream } from "./response.ts";

/** An `import` would read every export of the module, for which Node loads fetch and WebSocket: 70 ms in each process. */
const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");

export interface EndpointOptions {
  readonly handler: McpHandler;
  /** Called before every request except the probes. */
  readonly gate?: Gate;
  /** Answers MCP clients with the SDK's transports; loaded with the first of them. */
  readonly sessions?: () => Promise<McpSessions>;
  /** Whether `GET /ready` is answered with 200 or 503. Without it the pages answer the probes. */
  readonly isReady?: () => boolean;
  /** Answers every request except `/mcp` and the probes; loaded with the first of them, and again after a failed load. */
  readonly web: () => Promise<RequestListener>;
  /** The largest accepted body of a caller, in bytes. */
  readonly bodyLimit: (http: HttpContext) => number;
  /** The address that the server is bound to; loopback by default. */
  readonly host?: string;
  /** Further host names that are accepted in the Host header, and in the Origin of pages. */
  readonly allowedHosts: readonly string[];
  /** Returns the present addresses of this machine, which an endpoint that is not bound to loopback accepts as host names; none by default. */
  readonly machineAddresses?: () => MachineAddresses;
  readonly rejections?: RejectionLog | undefined;
  /** Called with internal errors, which no caller sees. */
  readonly onError?: (error: unknown) => void;
  /** How long a peer may leave sent data unread; for tests. */
  readonly unreadMs?: number;
}

/** A peer that leaves sent data unread for this time is disconnected. A peer that waits for an answer is not limited. */
const UNREAD_MS = 5 * 60_000;
/** The silence after which TCP keep-alive probes the peer's machine, which may have vanished without closing the connection. */
const PROBE_AFTER_MS = 60_000;

/**
 * Returns the server of one agent. It answers `POST /mcp` on node:http, because every move of every match is such a request, and `GET /health`
 * and `/ready`, which a manager requests from its referees every second. Express answers all other requests. The server rejects a foreign
 * Host or Origin (403), content types other than JSON (415), large bodies (413) and callers beyond their limits (429).
 */
export function httpEndpoint(options: EndpointOptions): Server {
  const { host = "127.0.0.1", allowedHosts, machineAddresses = () => new Set(), gate, onError } = options;
  const faultOf = callerCheck({ host, allowedHosts, machineAddresses });
  const web = lazily(options.web);
  const answerPage = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const http = contextOf(request, response, options);
    try {
      const verdict = gate ? await gate("", http) : null;
      for (const [name, value] of Object.entries(verdict?.headers ?? {})) response.setHeader(name, value);
      if (verdict?.rejection) {
        // Without it, a page that reloads itself would stay at this answer.
        const retryAfter = verdict.headers["retry-after"];
        if (request.method === "GET" && retryAfter !== undefined) response.setHeader("refresh", retryAfter);
        return rejectPage(http, request, response, 429, "Too many requests; see Retry-After");
      }
      const listener = await web().catch(() => null); // the failed load has been logged
      if (listener) listener(request, response);
      else reject(response, 500, "Internal error");
    } catch (thrown) {
      onError?.(thrown);
      reject(response, 500, "Internal error");
    }
  };
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };
  const server = createServer(keepAlive, (request, response) => {
    response.on("timeout", disconnectIfUnread);
    const isMcp = pathOf(request) === "/mcp";
    const fault = faultOf(request);
    if (fault !== null) {
      const http = contextOf(request, response, options);
      if (isMcp) rejectMcp(http, request, response, fault.status, fault.message);
      else rejectPage(http, request, response, fault.status, fault.message);
    } else if (isMcp) {
      answerMcp(request, response, options);
    } else {
      const probe = options.isReady && probeOf(request, options.isReady);
      if (probe) sendReply(response, probe);
      else void answerPage(request, response);
    }
  });
  limitConnections(server);
  server.keepAliveTimeout = 60_000;
  server.requestTimeout = 30_000;
  server.timeout = options.unreadMs ?? UNREAD_MS;
  return server;
}

/** Closes an inactive connection if its peer does not read what was sent. */
function disconnectIfUnread(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

/** Matches paths as Express does: in upper or lower case, with or without a final slash. */
const PROBE = /^\/(health|ready)\/?$/i;

const PROBE_HEADERS = { "content-type": "application/json; charset=utf-8" };

function probeOf(request: IncomingMessage, isReady: () => boolean): HttpReply | null {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  const [, probe] = PROBE.exec(pathOf(request)) ?? [];
  if (probe === undefined) return null;
  if (probe.toLowerCase() === "health") return { status: 200, body: '{"status":"ok"}', headers: PROBE_HEADERS };
  return isReady()
    ? { status: 200, body: '{"status":"ready"}', headers: PROBE_HEADERS }
    : { status: 503, body: '{"status":"starting"}', headers: PROBE_HEADERS };
}

function answerMcp(request: IncomingMessage, response: ServerResponse, options: EndpointOptions): void {
  const http = contextOf(request, response, options);
  const isOfSession = (request.method === "GET" || request.method === "DELETE") && options.sessions !== undefined;
  if (request.method !== "POST" && !isOfSession) {
    response.setHeader("allow", options.sessions ? "GET, POST, DELETE" : "POST");
    rejectMcp(http, request, response, 405, "Method not allowed: POST a JSON-RPC 2.0 request");
    return;
  }
  if (isOfSession) {
    void answer(request, response, "", http, options);
    return;
  }
  if (!isJson(request.headers["content-type"])) {
    rejectMcp(http, request, response, 415, "Unsupported media type: send application/json");
    return;
  }
  collect(request, options.bodyLimit(http), (body) => {
    if (body === null) {
      response.setHeader("connection", "close");
      rejectMcp(http, request, response, 413, "Body too large");
      return;
    }
    void answer(request, response, body, http, options);
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  http: HttpContext,
  { gate, handler, sessions, onError }: EndpointOptions,
): Promise<void> {
  try {
    const rejection = (gate && (await gate(body, http)))?.rejection ?? null;
    if (rejection) logRejection(http, request, rejection.status, "too many requests");
    if (rejection) return sendReply(response, rejection);
    const route: McpRoute = sessions ? await routeOf(request, body, sessions) : { to: "plain" };
    if (route.to === "plain") {
      const reply = await handler(body, http);
      if (reply.more) await stream(response, reply.status, reply.body, reply.more);
      else sendReply(response, reply);
    } else if (sessions) {
      await answerClient(await sessions(), route, request, response, http);
    }
  } catch (thrown) {
    onError?.(thrown);
    reject(response, 500, "Internal error");
  }
}

async function answerClient(
  clients: McpSessions,
  route: Exclude<McpRoute, { readonly to: "plain" }>,
  request: IncomingMessage,
  response: ServerResponse,
  http: HttpContext,
): Promise<void> {
  if (route.to === "direct") return sendReply(response, await clients.direct.answer(route.call, http));
  await clients.handle(route.to, request, response, route.message, http);
  const { statusCode } = response;
  if (statusCode >= 400) logRejection(http, request, statusCode, STATUS_CODES[statusCode] ?? "");
}

function contextOf(
  request: IncomingMessage,
  response: ServerResponse,
  { rejections }: Pick<EndpointOptions, "rejections">,
): HttpContext {
  const remoteAddress = remoteAddressOf(request);
  /** Shared by the calls of a batch, because each signal adds a listener to the response. */
  let gone: AbortSignal | undefined;
  return {
    bearer: bearerOf(request),
    remoteAddress,
    logRejection: rejections && ((rejected) => rejections.write(remoteAddress, rejected)),
    isMcpClient: acceptsStream(request),
    // Not a getter: V8 allocates the getter of an object literal in the old generation, where it keeps the request until the next full collection.
    gone: () => (gone ??= goneSignal(response)),
  };
}

/** Logs and rejects a request to `/mcp`, in JSON-RPC. */
function rejectMcp(
  http: HttpContext,
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  message: string,
): void {
  logRejection(http, request, status, message);
  reject(response, status, message);
}

const PAGE_CODES = { 403: "FORBIDDEN", 415: "INVALID_REQUEST", 429: "TOO_MANY_REQUESTS" } as const;

/** Logs and rejects any other request, in the form of the REST API. */
function rejectPage(
  http: HttpContext,
  request: IncomingMessage,
  response: ServerResponse,
  status: keyof typeof PAGE_CODES,
  message: string,
): void {
  logRejection(http, request, status, message);
  send(response, status, JSON.stringify({ error: { code: PAGE_CODES[status], message } }));
}

const logRejection = (http: HttpContext, request: IncomingMessage, code: number, reason: string): void =>
  http.logRejection?.({ code, reason, request: `${request.method} ${pathOf(request)}` });
