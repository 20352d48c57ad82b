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
import { refuse, send, sendReply, stream } from "./response.ts";

/** Not by `import`, which would read every export of the module: Node loads its own fetch and WebSocket for that, 70 ms in each process. */
const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");

export interface EndpointOptions {
  readonly handler: McpHandler;
  /** Asked before every request but the probes. */
  readonly gate?: Gate;
  /** MCP clients that bring a transport of their own; loaded with the first of them. */
  readonly sessions?: () => Promise<McpSessions>;
  /** Whether the agent can do its work now: decides between 200 and 503 of `GET /ready`. Without it the pages answer the probes too. */
  readonly isReady?: () => boolean;
  /** Everything that is neither `/mcp` nor a probe; loaded when first asked for, and again after a failure. */
  readonly web: () => Promise<RequestListener>;
  /** Largest accepted body of a caller, bytes. */
  readonly bodyLimit: (http: HttpContext) => number;
  /** What the server is bound to; loopback without it. */
  readonly host?: string;
  /** Host names, besides its own, by which this endpoint may be called, and whose pages may call it. */
  readonly allowedHosts: readonly string[];
  /** The present addresses of this machine, by which an endpoint that is not bound to loopback may be called too; none without it. */
  readonly machineAddresses?: () => MachineAddresses;
  readonly rejections?: RejectionLog | undefined;
  /** Called with internal errors, which no caller sees. */
  readonly onError?: (error: unknown) => void;
  /** How long a peer may read nothing of what it is sent; for tests. */
  readonly unreadMs?: number;
}

/** A peer that reads nothing for so long reads no more. One that waits for its answer may be as silent as it likes. */
const UNREAD_MS = 5 * 60_000;
/** From then on the system asks a silent peer's machine whether it is there: one that is not never closed anything. */
const PROBE_AFTER_MS = 60_000;

/**
 * The server of one agent: `POST /mcp` is taken here, on node:http itself, because every move of every match passes through it, and so
 * are `GET /health` and `/ready`, which a manager asks of its referees every second; the rest goes to express. Refuses a foreign Host or
 * Origin (403), any content type but JSON (415), large bodies (413) and callers beyond their limits (429).
 */
export function httpEndpoint(options: EndpointOptions): Server {
  const { host = "127.0.0.1", allowedHosts, machineAddresses = () => new Set(), gate, onError } = options;
  const faultOf = callerCheck({ host, allowedHosts, machineAddresses });
  const web = lazily(options.web);
  const takePage = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const http = contextOf(request, response, options);
    try {
      const verdict = gate ? await gate("", http) : null;
      for (const [name, value] of Object.entries(verdict?.headers ?? {})) response.setHeader(name, value);
      if (verdict?.rejection) {
        // A page that reloads itself, as the league's does, would otherwise stay at this answer.
        const retryAfter = verdict.headers["retry-after"];
        if (request.method === "GET" && retryAfter !== undefined) response.setHeader("refresh", retryAfter);
        return refusePage(http, request, response, 429, "Too many requests; see Retry-After");
      }
      const listener = await web().catch(() => null); // it has logged why it could not be loaded
      if (listener) listener(request, response);
      else refuse(response, 500, "Internal error");
    } catch (thrown) {
      onError?.(thrown);
      refuse(response, 500, "Internal error");
    }
  };
  const probed = { keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };
  const server = createServer(probed, (request, response) => {
    response.on("timeout", leaveIfUnread);
    const isMcp = pathOf(request) === "/mcp";
    const fault = faultOf(request);
    if (fault !== null) {
      const http = contextOf(request, response, options);
      if (isMcp) refuseMcp(http, request, response, fault.status, fault.message);
      else refusePage(http, request, response, fault.status, fault.message);
    } else if (isMcp) {
      takeMcp(request, response, options);
    } else {
      const probe = options.isReady && probeOf(request, options.isReady);
      if (probe) sendReply(response, probe);
      else void takePage(request, response);
    }
  });
  limitConnections(server);
  server.keepAliveTimeout = 60_000;
  server.requestTimeout = 30_000;
  server.timeout = options.unreadMs ?? UNREAD_MS;
  return server;
}

/** Nothing has moved on a connection for a while: it is given up if that is because its peer does not read. */
function leaveIfUnread(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

/** As express reads a path: in any case, with a slash at its end. */
const PROBE = /^\/(health|ready)\/?$/i;

const PROBED = { "content-type": "application/json; charset=utf-8" };

function probeOf(request: IncomingMessage, isReady: () => boolean): HttpReply | null {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  const [, probe] = PROBE.exec(pathOf(request)) ?? [];
  if (probe === undefined) return null;
  if (probe.toLowerCase() === "health") return { status: 200, body: '{"status":"ok"}', headers: PROBED };
  return isReady()
    ? { status: 200, body: '{"status":"ready"}', headers: PROBED }
    : { status: 503, body: '{"status":"starting"}', headers: PROBED };
}

function takeMcp(request: IncomingMessage, response: ServerResponse, options: EndpointOptions): void {
  const http = contextOf(request, response, options);
  const isOfSession = (request.method === "GET" || request.method === "DELETE") && options.sessions !== undefined;
  if (request.method !== "POST" && !isOfSession) {
    response.setHeader("allow", options.sessions ? "GET, POST, DELETE" : "POST");
    refuseMcp(http, request, response, 405, "Method not allowed: POST a JSON-RPC 2.0 request");
    return;
  }
  if (isOfSession) {
    void answer(request, response, "", http, options);
    return;
  }
  if (!isJson(request.headers["content-type"])) {
    refuseMcp(http, request, response, 415, "Unsupported media type: send application/json");
    return;
  }
  collect(request, options.bodyLimit(http), (body) => {
    if (body === null) {
      response.setHeader("connection", "close");
      refuseMcp(http, request, response, 413, "Body too large");
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
    refuse(response, 500, "Internal error");
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
  /** One for all calls of a batch: a signal for each would add a listener for each to the response. */
  let gone: AbortSignal | undefined;
  return {
    bearer: bearerOf(request),
    remoteAddress,
    logRejection: rejections && ((rejected) => rejections.write(remoteAddress, rejected)),
    isMcpClient: acceptsStream(request),
    // No getter: V8 puts that of an object literal in old memory, where it keeps the request until the next full collection.
    gone: () => (gone ??= goneSignal(response)),
  };
}

/** Refuses a request to `/mcp`, in JSON-RPC. */
function refuseMcp(
  http: HttpContext,
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  message: string,
): void {
  logRejection(http, request, status, message);
  refuse(response, status, message);
}

const PAGE_CODES = { 403: "FORBIDDEN", 415: "INVALID_REQUEST", 429: "TOO_MANY_REQUESTS" } as const;

/** Refuses any other request, in the form of the REST API. */
function refusePage(
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
