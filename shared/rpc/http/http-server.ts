import { once } from "node:events";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Clock } from "#shared/lib/clock.ts";
import { lazily } from "#shared/lib/lazy.ts";
import { err, messageOf, ok, type Result } from "#shared/lib/result.ts";
import { isLoopback, type MachineAddresses, networkOf } from "#shared/protocol/addresses.ts";
import type { Gate, HttpContext, HttpReply, McpHandler } from "#shared/rpc/jsonrpc/http-context.ts";
import { type RejectionLog, rejectionLog } from "#shared/rpc/jsonrpc/rejection-log.ts";
import { type McpRoute, routeOf } from "#shared/rpc/mcp/route.ts";
import type { McpSessions } from "#shared/rpc/mcp/sessions.ts";
import { allowCrossOrigin, answerPreflight, callerCheck, isJson } from "./caller-check.ts";
import { createForwarder, type Destination, type Forwarder, type Forwarding } from "./forwarding.ts";
import { type Interfaces, isWildcard, localUrl, machineAddresses, urlsOf } from "./machine-addresses.ts";
import {
  contextOf,
  type IsTrustedProxy,
  identifyCaller,
  pathOf,
  readBody,
  send,
  sendError,
  sendReply,
} from "./request.ts";
import {
  createUpgrades,
  isWebSocketRequest,
  mcpSocket,
  refuse,
  type UpgradeHandler,
  type Upgrades,
} from "./upgrade.ts";

/** `import` would read every export of the module, for which Node loads fetch and WebSocket: 70 ms in each process. */
const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");

/** The options of `listenHttp`; `EndpointOptions` describes those without a comment. */
export interface ListenOptions {
  /** Receives rejected requests and internal errors. */
  readonly log: {
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  /** The address to listen on. */
  readonly host: string;
  /** The ports to try, in order; 0 stands for a free port that the system chooses. */
  readonly ports: readonly number[];
  /** How a user sets another port, after "set another one" in the error about a port in use; `with --port` by default. */
  readonly portSetting?: string;
  readonly handler: McpHandler;
  readonly posts?: { readonly isAt: (path: string) => boolean; readonly handler: McpHandler };
  readonly gate?: Gate;
  readonly sessions?: () => Promise<McpSessions>;
  readonly isReady: () => boolean;
  readonly whyNotReady?: Readiness["whyNotReady"];
  readonly web: () => Promise<RequestListener>;
  readonly isTrustedProxy?: IsTrustedProxy;
  /** The other servers of the service; absent if there are none. */
  readonly forwarding?: Forwarding;
  /** Answers the requests for WebSockets at paths other than `/mcp`. */
  readonly upgrade?: UpgradeHandler;
  /** Returns the largest accepted body of a caller in bytes; 256 KiB by default. */
  readonly bodyLimit?: (http: HttpContext) => number;
  /** Additional host names that are accepted in the Host header and in the Origin of pages. */
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
}

/** An open HTTP endpoint. */
export interface Listening {
  /** The log of rejected requests. */
  readonly rejections: RejectionLog;
  /** The URL for callers on this machine, e.g. `http://127.0.0.1:8001`. The MCP endpoint is at `/mcp` below it. */
  readonly url: string;
  /** The URLs for other machines, one for each address that it listens on. */
  readonly urls: readonly string[];
  /** Whether it listens on every address of this machine. */
  readonly isOnEveryAddress: boolean;
  readonly port: number;
  /** Closes the server. Answers that are being sent have 300 ms to complete. */
  close(): Promise<void>;
}

const DEFAULT_BODY_BYTES = 256 * 1024;
/** The time until a closing server ends connections on which answers are being sent. */
const LAST_ANSWERS_MS = 300;

/** Opens the HTTP endpoint of an agent on the first free port of `options.ports`. The error is one line that names the last port and the reason. */
export async function listenHttp(
  options: ListenOptions,
  clock: Clock,
  interfaces: () => Interfaces,
): Promise<Result<Listening, string>> {
  const {
    log,
    host,
    bodyLimit = () => DEFAULT_BODY_BYTES,
    allowedHosts = [],
    upgrade,
    forwarding,
    ...handlers
  } = options;
  const { portSetting = "with --port" } = options;
  const rejections = rejectionLog(log, clock);
  const onError = (thrown: unknown): void => log.error({ err: thrown }, "internal error");
  const names = { host, allowedHosts, machineAddresses: () => machineAddresses(interfaces()) };
  const { gate, handler } = options;
  const upgrades = createUpgrades({
    handler: withMcp({ handler, gate, onError }, upgrade),
    gate,
    bodyLimit,
    clock,
    onError,
  });
  const forwarder = forwarding && createForwarder(forwarding, clock);
  const server = httpEndpoint({ ...handlers, ...names, upgrades, forwarder, bodyLimit, rejections, onError });
  const close = (): void => {
    upgrades.close();
    forwarder?.close();
  };
  let fault = "";
  for (const port of options.ports) {
    try {
      await once(server.listen(port, host), "listening"); // rejects on an error, and removes its listeners
      // Later errors, such as a connection that cannot be accepted, do not stop the server.
      server.on("error", onError);
      return ok(listeningOn(server, close, rejections, clock, interfaces()));
    } catch (thrown) {
      const isPortTaken = (thrown as NodeJS.ErrnoException).code === "EADDRINUSE";
      fault = isPortTaken
        ? `port ${port} on ${host} is already in use; set another one ${portSetting}`
        : `cannot listen on ${host}:${port}: ${messageOf(thrown)}`;
    }
  }
  return err(fault);
}

/** Returns the handler of the WebSockets of a service: one at `/mcp` for JSON-RPC, and those of `upgrade`. */
export const withMcp =
  (options: Parameters<typeof mcpSocket>[0], upgrade: UpgradeHandler | undefined): UpgradeHandler =>
  (request) =>
    request.path === "/mcp" ? { accept: mcpSocket(options, request.http) } : (upgrade?.(request) ?? null);

function listeningOn(
  server: Server,
  closeOthers: () => void,
  rejections: ReturnType<typeof rejectionLog>,
  clock: Clock,
  interfaces: Interfaces,
): Listening {
  const bound = server.address() as AddressInfo;
  return {
    rejections,
    url: localUrl(bound.address, bound.port),
    urls: urlsOf(bound.address, bound.port, interfaces),
    isOnEveryAddress: isWildcard(bound.address),
    port: bound.port,
    close: () =>
      new Promise((resolve) => {
        const cancelTimer = clock.after(LAST_ANSWERS_MS, () => server.closeAllConnections());
        server.close(() => {
          cancelTimer();
          rejections.flush();
          resolve();
        });
        server.closeIdleConnections();
        closeOthers();
      }),
  };
}

/** The options of `httpEndpoint`. */
export interface EndpointOptions {
  /** Answers `POST /mcp` in plain JSON. */
  readonly handler: McpHandler;
  /** Answers JSON that is posted to other paths than `/mcp`; `isAt` selects the paths. */
  readonly posts?: { readonly isAt: (path: string) => boolean; readonly handler: McpHandler };
  /** Decides whether a request may pass. It is called for every request except the health probes. */
  readonly gate?: Gate;
  /** Loads the handler for MCP clients that use sessions or streams; called for the first such client. */
  readonly sessions?: () => Promise<McpSessions>;
  /** Whether `GET /ready` is answered with 200; otherwise with 503. If it is absent, `web` answers the probes. */
  readonly isReady?: () => boolean;
  readonly whyNotReady?: Readiness["whyNotReady"];
  /** Loads the handler of all paths except `/mcp` and the probes; called for the first such request, and again after a failure. */
  readonly web: () => Promise<RequestListener>;
  /** The WebSockets of this endpoint. Without it, a request for a WebSocket is answered as a plain request. */
  readonly upgrades?: Upgrades | undefined;
  /** Returns the largest accepted body of a caller, in bytes. */
  readonly bodyLimit: (http: HttpContext) => number;
  /** The address to which the server is bound; loopback by default. */
  readonly host?: string;
  /** Additional host names by which this endpoint may be called, and whose pages may call it. */
  readonly allowedHosts: readonly string[];
  /** The origins of other sites whose pages may call `/mcp`; none by default. */
  readonly allowedOrigins?: readonly string[];
  /** Returns the current addresses of this machine, by which an endpoint may be called unless it is bound to loopback; none by default. */
  readonly machineAddresses?: () => MachineAddresses;
  /** Whether an address is that of a proxy, other than on this machine, whose `X-Forwarded-For` is correct; none by default. */
  readonly isTrustedProxy?: IsTrustedProxy;
  /** The other servers of this service; absent if there are none. */
  readonly forwarder?: Forwarder | undefined;
  /** Receives the rejected requests. */
  readonly rejections?: RejectionLog | undefined;
  /** Receives internal errors, whose text is not sent to callers. */
  readonly onError?: (error: unknown) => void;
}

/** The time without traffic after which a connection is closed if the client has not read all sent data. */
const STALLED_MS = 5 * 60_000;
/** The idle time until the system sends TCP keep-alive probes, which detect clients that disappeared without closing the connection. */
const KEEP_ALIVE_AFTER_MS = 60_000;

/**
 * Creates the HTTP server of an agent. `POST /mcp` is handled on node:http directly, because each move of each match passes through it, and so are
 * `GET /health` and `/ready`, which a manager requests from its referees every second. Other paths are handled by `options.web`. Rejects a foreign
 * Host or Origin (403), content types other than JSON (415), bodies above the limit (413) and callers above their rate limit (429).
 */
export function httpEndpoint(options: EndpointOptions): Server {
  const { host = "127.0.0.1", allowedHosts, allowedOrigins = [], machineAddresses = () => new Set() } = options;
  const { forwarder, isTrustedProxy = () => false, gate, onError } = options;
  const checkCaller = callerCheck({ host, allowedHosts, allowedOrigins, machineAddresses });
  const web = lazily("the pages and routes", options.web);
  const { sessions: _, posts, ...forPosts } = options;
  const handlePage = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    const http = { ...contextOf(request, response, options.rejections), isRead };
    try {
      const verdict = gate ? await gate("", http) : null;
      for (const [name, value] of Object.entries(verdict?.headers ?? {})) response.setHeader(name, value);
      if (verdict?.rejection) {
        // Without this header, a page that reloads itself, such as the league page, would stay at the error.
        const retryAfter = verdict.headers["retry-after"];
        if (request.method === "GET" && retryAfter !== undefined) response.setHeader("refresh", retryAfter);
        return rejectPage(http, request, response, 429, "Too many requests; see Retry-After");
      }
      (await web())(request, response);
    } catch (thrown) {
      onError?.(thrown);
      sendError(response, 500, "Internal error");
    }
  };
  const serverOptions = {
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_AFTER_MS,
    shouldUpgradeCallback: (request: IncomingMessage) => options.upgrades !== undefined && isWebSocketRequest(request),
  };
  const server = createServer(serverOptions, (request, response) => {
    response.on("timeout", closeIfUnread);
    const path = pathOf(request);
    const isMcp = path === "/mcp";
    const destination = destinationOf(request, options);
    const { fault, crossOrigin } = checkCaller(request, isMcp);
    if (crossOrigin !== null) allowCrossOrigin(request, response, crossOrigin);
    if (fault !== null) {
      const http = contextOf(request, response, options.rejections);
      if (isMcp) rejectMcp(http, request, response, fault.status, fault.message);
      else rejectPage(http, request, response, fault.status, fault.message);
    } else if (crossOrigin !== null && request.method === "OPTIONS") {
      answerPreflight(response);
    } else if (destination) {
      void forwarder?.request(request, response, destination);
    } else if (isMcp) {
      handlePost(request, response, options);
    } else if (posts?.isAt(path)) {
      handlePost(request, response, { ...forPosts, handler: posts.handler });
    } else {
      const { isReady, whyNotReady } = options;
      const probe = isReady && probeOf(request, { serverId: forwarder?.serverId, isReady, whyNotReady });
      if (probe) sendReply(response, probe);
      else void handlePage(request, response);
    }
  });
  server.on("upgrade", (request, connection: Socket, head) => {
    const destination = destinationOf(request, options);
    const { fault } = checkCaller(request, false);
    const http = contextOf(request, connection, options.rejections);
    if (fault === null) {
      if (destination) forwarder?.upgrade(request, connection, head, destination);
      else void options.upgrades?.answer({ request, connection, head, http });
      return;
    }
    logRejection(http, request, fault.status, fault.message);
    refuse(connection, { status: fault.status, code: PAGE_CODES[fault.status], message: fault.message });
  });
  limitConnections(server, (address) => isTrustedProxy(address) || (forwarder?.isServer(address) ?? false));
  server.keepAliveTimeout = 60_000;
  server.requestTimeout = 30_000;
  server.timeout = STALLED_MS;
  return server;
}

/** Returns the other server to which a request is passed on; null if this server answers it. */
function destinationOf(
  request: IncomingMessage,
  { forwarder, isTrustedProxy = () => false }: Pick<EndpointOptions, "forwarder" | "isTrustedProxy">,
): Destination | null {
  const caller = forwarder?.callerIn(request) ?? null;
  identifyCaller(request, isTrustedProxy, caller);
  return caller === null ? (forwarder?.destinationOf(request) ?? null) : null;
}

/** Closes a connection without traffic if the client has not read all sent data. A client that waits for its answer keeps its connection. */
function closeIfUnread(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

/** Rejects a request with a wrong method, content type or size, or reads its body and answers it. */
function handlePost(request: IncomingMessage, response: ServerResponse, options: EndpointOptions): void {
  const http = contextOf(request, response, options.rejections);
  const isSessionRequest = (request.method === "GET" || request.method === "DELETE") && options.sessions !== undefined;
  if (request.method !== "POST" && !isSessionRequest) {
    response.setHeader("allow", options.sessions ? "GET, POST, DELETE" : "POST");
    rejectMcp(http, request, response, 405, "Method not allowed: send a JSON-RPC 2.0 request by POST");
    return;
  }
  if (isSessionRequest) {
    void answer(request, response, "", http, options);
    return;
  }
  if (!isJson(request.headers["content-type"])) {
    rejectMcp(http, request, response, 415, "Unsupported media type: send application/json");
    return;
  }
  readBody(request, options.bodyLimit(http), (body) => {
    if (body === null) {
      response.setHeader("connection", "close");
      rejectMcp(http, request, response, 413, "Body too large");
      return;
    }
    void answer(request, response, body, http, options);
  });
}

/** Answers a request whose body has been read, unless the gate rejects it. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  http: HttpContext,
  { gate, handler, sessions, onError }: EndpointOptions,
): Promise<void> {
  try {
    const rejection = (gate && (await gate(body, http)))?.rejection ?? null;
    const reason = rejection?.status === 429 ? "too many requests" : "unavailable";
    if (rejection) logRejection(http, request, rejection.status, reason);
    if (rejection) return sendReply(response, rejection);
    const route: McpRoute = sessions ? await routeOf(request, body, sessions) : { to: "plain" };
    if (route.to === "plain") {
      const reply = await handler(body, http);
      if (reply.isRefused) request.socket.destroy();
      else sendReply(response, reply);
    } else if (sessions) {
      await answerClient(await sessions(), route, request, response, http);
    }
  } catch (thrown) {
    onError?.(thrown);
    sendError(response, 500, "Internal error");
  }
}

/** Answers the request of an MCP client by the MCP SDK or its faster equivalent. */
async function answerClient(
  sessions: McpSessions,
  route: Exclude<McpRoute, { readonly to: "plain" }>,
  request: IncomingMessage,
  response: ServerResponse,
  http: HttpContext,
): Promise<void> {
  if (route.to === "direct") return sendReply(response, await sessions.direct.answer(route.call, http));
  await sessions.handle(route.to, request, response, route.message, http);
  const { statusCode } = response;
  if (statusCode >= 400) logRejection(http, request, statusCode, STATUS_CODES[statusCode] ?? "");
}

/** Rejects a posted request with a JSON-RPC error. */
function rejectMcp(
  http: HttpContext,
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  message: string,
): void {
  logRejection(http, request, status, message);
  sendError(response, status, message);
}

const PAGE_CODES = { 403: "FORBIDDEN", 415: "INVALID_REQUEST", 429: "TOO_MANY_REQUESTS" } as const;

/** Rejects any other request with an error of the REST API. */
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

/** The paths of the probes, matched as express does: case-insensitive, with an optional slash at the end. */
const PROBE = /^\/(health|ready)\/?$/i;

const PROBE_HEADERS = { "content-type": "application/json; charset=utf-8" };

interface Readiness {
  /** Names the process in the answer of `/health`, if the service consists of several servers. */
  readonly serverId?: string | undefined;
  readonly isReady: () => boolean;
  /** Returns the status that `/ready` names while the agent is not ready; absent or null for "starting". */
  readonly whyNotReady?: (() => string | null) | undefined;
}

/** Returns the answer to a probe; null for other requests. */
function probeOf(request: IncomingMessage, { serverId, isReady, whyNotReady }: Readiness): HttpReply | null {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  const [, probe] = PROBE.exec(pathOf(request)) ?? [];
  if (probe === undefined) return null;
  if (probe.toLowerCase() === "health") {
    return { status: 200, body: JSON.stringify({ status: "ok", server_id: serverId }), headers: PROBE_HEADERS };
  }
  return isReady()
    ? { status: 200, body: '{"status":"ready"}', headers: PROBE_HEADERS }
    : { status: 503, body: JSON.stringify({ status: whyNotReady?.() ?? "starting" }), headers: PROBE_HEADERS };
}

/** The largest number of open connections of one remote network: enough for a class behind one address, below the open files of a process. */
const MAX_PER_NETWORK = 500;

/**
 * Closes new connections of a remote network beyond the limit, so that one network cannot use up the open files of the process. `isUnlimited` is true
 * for addresses whose connections have many callers: proxies and other servers of the service.
 */
function limitConnections(server: Server, isUnlimited: (address: string) => boolean): void {
  const openConnections = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const { remoteAddress = "" } = socket;
    if (isLoopback(remoteAddress) || isUnlimited(remoteAddress)) return;
    const network = networkOf(remoteAddress);
    const count = openConnections.get(network) ?? 0;
    if (count >= MAX_PER_NETWORK) {
      socket.destroy();
      return;
    }
    openConnections.set(network, count + 1);
    socket.once("close", () => {
      const remaining = (openConnections.get(network) ?? 1) - 1;
      if (remaining === 0) openConnections.delete(network);
      else openConnections.set(network, remaining);
    });
  });
}
