import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { isIP, type Socket } from "node:net";
import { lazily } from "../lib/lazily.ts";
import { bareHost, isLoopback } from "./addresses.ts";
import type { Gate, HttpContext, HttpReply, McpDoor } from "./http.ts";
import type { McpSessions } from "./mcp-sessions.ts";

/** Not by `import`, which would read every export of the module: Node loads its own fetch and WebSocket for that, 70 ms in each process. */
const { createServer } = process.getBuiltinModule("node:http");

export interface EndpointOptions {
  readonly door: McpDoor;
  /** Asked before each `/mcp` request. */
  readonly gate?: Gate;
  /** MCP clients that bring a transport of their own; loaded with the first of them. */
  readonly sessions?: () => Promise<McpSessions>;
  /** Whether the agent can do its work now: decides between 200 and 503 of `GET /ready`. Without it the pages answer the probes too. */
  readonly isReady?: () => boolean;
  /** Everything that is neither `/mcp` nor a probe; loaded when first asked for, and again after a failure. */
  readonly web: () => Promise<RequestListener>;
  /** Largest accepted body of a caller, bytes. */
  readonly bodyLimit: (http: HttpContext) => number;
  /** Host names, besides loopback's, by which this endpoint may be called. */
  readonly allowedHosts: readonly string[];
  /** Whether any IP address will do as a Host: for endpoints that are open to a network. Names could be rebound, addresses cannot. */
  readonly anyAddress?: boolean;
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
 * Origin (403), any content type but JSON (415) and large bodies (413).
 */
export function httpEndpoint(options: EndpointOptions): Server {
  const isAllowedCaller = callerCheck(options.allowedHosts, options.anyAddress ?? false);
  const web = lazily(options.web);
  const takePage: RequestListener = (request, response) => {
    web().then(
      (listener) => listener(request, response),
      () => refuse(response, 500, "Internal error"),
    );
  };
  const probed = { keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };
  const server = createServer(probed, (request, response) => {
    response.on("timeout", leaveIfUnread);
    if (!isAllowedCaller(request)) {
      const message = "Forbidden: foreign Host or Origin";
      if (pathOf(request) === "/mcp") refuse(response, 403, message);
      else send(response, 403, JSON.stringify({ error: { code: "FORBIDDEN", message } }));
    } else if (pathOf(request) === "/mcp") {
      takeMcp(request, response, options);
    } else {
      const probe = options.isReady && probeOf(request, options.isReady);
      if (probe) sendReply(response, probe);
      else takePage(request, response);
    }
  });
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

/** The path of a request's target, which may be sent whole, as to a proxy (RFC 9112, section 3.2.2). */
const pathOf = ({ url = "/" }: IncomingMessage): string =>
  url.replace(/^https?:\/\/[^/?]+/i, "").split("?", 1)[0] || "/";

/** The token of `Authorization: Bearer`, whose scheme is in any case (RFC 9110, section 11.1); null without one. */
export const bearerOf = ({ headers }: Pick<IncomingMessage, "headers">): string | null =>
  /^Bearer +(\S.*)$/i.exec(headers.authorization ?? "")?.[1] ?? null;

function takeMcp(request: IncomingMessage, response: ServerResponse, options: EndpointOptions): void {
  const isOfSession = (request.method === "GET" || request.method === "DELETE") && options.sessions !== undefined;
  if (request.method !== "POST" && !isOfSession) {
    response.setHeader("allow", options.sessions ? "GET, POST, DELETE" : "POST");
    refuse(response, 405, "Method not allowed: POST a JSON-RPC 2.0 request");
    return;
  }
  if (isOfSession) {
    void answer(request, response, "", contextOf(request, response), options);
    return;
  }
  if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "")) {
    refuse(response, 415, "Unsupported media type: send application/json");
    return;
  }
  const http = contextOf(request, response);
  collect(request, options.bodyLimit(http), (body) => {
    if (body === null) {
      response.setHeader("connection", "close");
      refuse(response, 413, "Body too large");
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
  { gate, door, sessions }: EndpointOptions,
): Promise<void> {
  try {
    const refusal = gate ? await gate(body, http) : null;
    const message = refusal || !sessions ? undefined : forMcpClient(request, body);
    if (!sessions || message === undefined) {
      const reply = refusal ?? (await door(body, http));
      if (reply.more) await stream(response, reply.status, reply.body, reply.more);
      else sendReply(response, reply);
      return;
    }
    const clients = await sessions();
    const direct = clients.direct(request, message.body, http);
    if (direct) sendReply(response, await direct);
    else await clients.handle(request, response, message.body, http);
  } catch {
    refuse(response, 500, "Internal error");
  }
}

/**
 * Whether a request is for an MCP client's transport, and its body: it belongs to a session or accepts an event stream.
 * Everything else is answered in plain JSON (PROTOCOL.md, section 4), and so is a `league_message` of a bot that accepts
 * everything but names no revision of MCP.
 */
function forMcpClient({ method, headers }: IncomingMessage, body: string): { readonly body: unknown } | undefined {
  if (method !== "POST") return { body: undefined };
  const isInSession = headers["mcp-session-id"] !== undefined;
  const isDeclared = isInSession || headers["mcp-protocol-version"] !== undefined;
  if (!isInSession && !acceptsStream({ headers })) return undefined;
  try {
    const message = JSON.parse(body) as { method?: unknown; params?: { name?: unknown } } | null;
    const isLeague = message?.method === "tools/call" && message.params?.name === "league_message";
    return isLeague && !isDeclared ? undefined : { body: message };
  } catch {
    return undefined; // the plain door says what is wrong with it
  }
}

function contextOf(request: IncomingMessage, response: ServerResponse): HttpContext {
  return {
    bearer: bearerOf(request),
    remoteAddress: request.socket.remoteAddress ?? "",
    isMcpClient: acceptsStream(request),
    // No getter: V8 puts that of an object literal in old memory, where it keeps the request until the next full collection.
    gone: () => goneSignal(response),
  };
}

/** Aborted when whoever is to be answered has gone. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.closed) gone.abort();
  else response.once("close", () => gone.abort());
  return gone.signal;
}

const acceptsStream = ({ headers }: Pick<IncomingMessage, "headers">): boolean =>
  headers.accept?.includes("text/event-stream") ?? false;

/** Reads a body as UTF-8; null once it is larger than `limit` bytes. A broken connection calls nobody. */
export function collect(request: IncomingMessage, limit: number, done: (body: string | null) => void): void {
  if (Number(request.headers["content-length"] ?? 0) > limit) {
    done(null);
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
    else if (size - chunk.length <= limit) done(null);
  });
  request.on("end", () => {
    if (size <= limit) done((chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString("utf8"));
  });
}

type CallerCheck = (request: IncomingMessage) => boolean;

/** Verdicts on Host and Origin headers kept at once; a caller repeats the same two with every request. */
const MAX_VERDICTS = 1_000;

function callerCheck(allowedHosts: readonly string[], anyAddress: boolean): CallerCheck {
  const verdicts = new Map<string, boolean>();
  const isAllowed = (origin: string): boolean => {
    const known = verdicts.get(origin);
    if (known !== undefined) return known;
    const url = URL.parse(origin);
    const called = url === null ? "" : bareHost(url);
    const verdict = isLoopback(called) || allowedHosts.includes(called) || (anyAddress && isIP(called) !== 0);
    if (verdicts.size >= MAX_VERDICTS) verdicts.clear();
    verdicts.set(origin, verdict);
    return verdict;
  };
  return ({ headers: { host, origin } }) =>
    host !== undefined && isAllowed(`http://${host}`) && (origin === undefined || isAllowed(origin));
}

const refuse = (response: ServerResponse, status: number, message: string): void =>
  send(response, status, JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32600, message } }));

const sendReply = (response: ServerResponse, { status, body, headers }: HttpReply): void =>
  send(response, status, body, headers);

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) return;
  const about = body === "" ? {} : { "content-type": "application/json" };
  response.writeHead(status, { ...about, ...headers, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

async function stream(
  response: ServerResponse,
  status: number,
  body: string,
  more: AsyncIterable<string>,
): Promise<void> {
  response.writeHead(status, { "content-type": "application/json" }).write(body);
  for await (const part of more) {
    if (response.destroyed) return;
    response.write(part);
  }
  response.end();
}
