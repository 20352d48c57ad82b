import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  createRequestStateCodec,
  type EventStore,
  isInitializeRequest,
  isLegacyRequest,
  legacyStatelessFallback,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  Server,
  type ServerContext,
  type ServerOptions,
} from "@modelcontextprotocol/server";
import { JSONRPCErrorException } from "json-rpc-2.0";
import type { HttpContext, HttpReply } from "./http.ts";
import { isInputNeeded } from "./input.ts";
import type { McpSurface } from "./mcp.ts";
import { directCalls, unfitArguments } from "./mcp-direct.ts";
import { ask, asResult, type Era, inputOf } from "./mcp-input.ts";

/** One method of a surface. Clients that come through the SDK bring a context, plain JSON-RPC has none. */
export type McpMethod = (params: unknown, http: HttpContext, context?: ServerContext) => unknown;

/** What is served at one endpoint, whichever way a caller comes in. */
export interface McpService {
  readonly serverInfo: McpSurface["serverInfo"];
  readonly methods: Readonly<Record<string, McpMethod>>;
  /** The tools that answer by themselves: they neither wait nor talk to the client meanwhile. */
  readonly direct: ReadonlySet<string>;
  /** Signs the state between the rounds of a call. */
  readonly stateKey: string;
  /** What the SDK has to know besides: capabilities other than tools and resources, how request state is verified. */
  readonly options?: ServerOptions;
  /** A person may take this long over a form; whoever needs longer goes on in another call. */
  readonly answerWithinMs?: number | undefined;
  /** Keeps the events of one session for clients that reconnect; without it a broken stream is lost. */
  readonly eventStore?: () => EventStore;
}

/** MCP clients of both eras at one endpoint: sessions of 2024-11-05 to 2025-11-25, and the stateless 2026-07-28. */
export interface McpSessions {
  /** The answer to a POST that needs nothing of a transport; null for every other. */
  direct(request: IncomingMessage, body: unknown, http: HttpContext): Promise<HttpReply> | null;
  /** Answers one request of an MCP client; `body` is parsed JSON, undefined for GET and DELETE. */
  handle(request: IncomingMessage, response: ServerResponse, body: unknown, http: HttpContext): Promise<void>;
  /** Tells whoever has subscribed to a resource that it has changed. */
  changed(uri: string): void;
  close(): Promise<void>;
}

interface Session {
  readonly transport: NodeStreamableHTTPServerTransport;
  readonly server: Server;
  readonly subscriptions: Set<string>;
  /** Requests and streams that are open now. */
  open: number;
  usedAt: number;
}

interface Serving {
  readonly era: Era;
  readonly subscriptions: Set<string> | undefined;
  readonly states: RequestStateCodec;
}

const ANSWER_WITHIN_MS = 10 * 60_000;
/** A game that was left over night goes on the next day. */
const STATE_TTL_S = 30 * 24 * 3600;
const IDLE_MS = 10 * 60_000;
const LOOK_EVERY_MS = 60_000;
const MAX_SESSIONS = 5_000;
const MAX_SUBSCRIPTIONS = 1_000;
/** How soon a client may reconnect to a stream that can be resumed. */
const RETRY_MS = 500;

/** The SDK's transports before one service. Nothing of it is written twice: each method is the plain router's own. */
export function mcpSessions(service: McpService, onError: (error: unknown) => void): McpSessions {
  const sessions = new Map<string, Session>();
  const direct = directCalls(service, onError);
  const canResume = service.eventStore !== undefined;
  const states = createRequestStateCodec({ key: service.stateKey, ttlSeconds: STATE_TTL_S });
  const build = (era: Era, subscriptions?: Set<string>): Server =>
    serverOf(service, { era, subscriptions, states }, onError);
  // Their own error callbacks tell of what callers did wrong; what we did wrong comes through `serverOf`.
  const modern = createMcpHandler(() => build("modern"), { legacy: "reject" });
  const answerModern = toNodeHandler(modern, { onerror: onError });
  const answerStateless = toNodeHandler({ fetch: legacyStatelessFallback(() => build("stateless")) });

  const look = setInterval(() => {
    const latest = Date.now() - IDLE_MS;
    for (const { transport, open, usedAt } of sessions.values()) {
      if (open === 0 && usedAt < latest) void transport.close();
    }
  }, LOOK_EVERY_MS);
  look.unref();

  const begin = async (): Promise<Session> => {
    const subscriptions = new Set<string>();
    const server = build("session", subscriptions);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
      ...(service.eventStore && { eventStore: service.eventStore(), retryInterval: RETRY_MS }),
    });
    const session: Session = { transport, server, subscriptions, open: 0, usedAt: Date.now() };
    server.onclose = () => void sessions.delete(transport.sessionId ?? "");
    await server.connect(transport);
    return session;
  };

  const inSession = async (
    session: Session,
    request: IncomingMessage,
    response: ServerResponse,
    body: unknown,
  ): Promise<void> => {
    session.open++;
    response.once("close", () => {
      session.open--;
      session.usedAt = Date.now();
    });
    await session.transport.handleRequest(request, response, body);
  };

  return {
    direct: ({ headers }, body, http) => direct(headers, body, http),
    async handle(request, response, body, http) {
      const as = Object.assign(request, {
        auth: authOf(http, canResume),
        method: request.method ?? "",
        url: request.url ?? "",
      });
      const id = request.headers["mcp-session-id"];
      const known = typeof id === "string" ? sessions.get(id) : undefined;
      if (known) return inSession(known, as, response, body);
      if (typeof id === "string") return unknownSession(response, body);
      if (!(await isLegacyRequest(await toWebRequest(as, body), body))) return answerModern(as, response, body);
      if (!isInitialize(body)) return answerStateless(as, response, body);
      if (sessions.size >= MAX_SESSIONS) return refuse(response, 503, body, "Too many sessions");
      return inSession(await begin(), as, response, body);
    },
    changed(uri) {
      modern.notify.resourceUpdated(uri);
      for (const { server, subscriptions } of sessions.values()) {
        if (subscriptions.has(uri)) server.sendResourceUpdated({ uri }).catch(onError);
      }
    },
    async close() {
      clearInterval(look);
      await modern.close();
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
}

/** Methods that the SDK leaves to the server, as far as a service has them. */
const METHODS = [
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
  "prompts/get",
  "completion/complete",
] as const;

/** An SDK server that answers with the plain router's methods. */
function serverOf(
  { serverInfo, methods, options, answerWithinMs = ANSWER_WITHIN_MS }: McpService,
  { era, subscriptions, states }: Serving,
  onError: (error: unknown) => void,
): Server {
  const capabilities = { tools: {}, resources: { subscribe: true }, ...options?.capabilities };
  const server = new Server(serverInfo, { requestState: { verify: states.verify }, ...options, capabilities });
  for (const name of METHODS) {
    const method = methods[name];
    if (!method) continue;
    server.setRequestHandler(name, async ({ params }: { params?: unknown }, context: ServerContext) => {
      const caller = callerOf(context);
      try {
        // The SDK checks every answer against the protocol's own schema.
        return (await answered(method, params, caller, context)) as never;
      } catch (thrown) {
        const unfit = name === "tools/call" ? unfitArguments(thrown) : null;
        if (unfit) return unfit as never;
        const isTheirs = thrown instanceof JSONRPCErrorException || thrown instanceof ProtocolError;
        if (isTheirs || caller.signal.aborted) throw thrown;
        onError(thrown);
        throw new ProtocolError(ProtocolErrorCode.InternalError, "Internal error"); // the SDK would show the message
      }
    });
  }
  /** A tool that asks first is called again with what was said. */
  async function answered(
    method: McpMethod,
    params: unknown,
    caller: ReturnType<typeof callerOf>,
    context: ServerContext,
  ): Promise<unknown> {
    for (let input = inputOf(era, server, context); ; ) {
      const result = await method(params, { ...caller, input }, context);
      if (typeof result !== "object" || result === null || !isInputNeeded(result)) return result;
      if (era === "modern") return asResult(result, (state) => states.mint(state));
      input = {
        ...input,
        said: await ask(result, context, { answerWithinMs, gone: caller.signal }),
        state: result.state,
      };
    }
  }
  server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    if (subscriptions && subscriptions.size >= MAX_SUBSCRIPTIONS && !subscriptions.has(uri)) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No more than ${MAX_SUBSCRIPTIONS} subscriptions`);
    }
    subscriptions?.add(uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    subscriptions?.delete(uri);
    return {};
  });
  return server;
}

/**
 * The caller's bearer token and address travel through the SDK as its authentication information, and with them what tells that its
 * connection is gone: for the SDK a call outlives that, but nothing more can be said to it, unless its stream can be resumed.
 */
const authOf = (http: HttpContext, canResume: boolean) => ({
  token: http.bearer ?? "",
  clientId: http.remoteAddress,
  scopes: [],
  extra: canResume ? {} : { gone: http.signal },
});

function callerOf({ http, mcpReq, sessionId }: ServerContext): HttpContext & { readonly signal: AbortSignal } {
  const { token = "", clientId = "", extra = {} } = http?.authInfo ?? {};
  const signal = extra.gone instanceof AbortSignal ? AbortSignal.any([mcpReq.signal, extra.gone]) : mcpReq.signal;
  const progressToken = mcpReq._meta?.progressToken;
  const tell = (progress: number, total: number, message: string): void => {
    const params = { progressToken: progressToken ?? "", progress, total, message };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}); // it has gone
  };
  return {
    bearer: token === "" ? null : token,
    remoteAddress: clientId,
    isMcpClient: true,
    ...(sessionId !== undefined && { sessionId }),
    signal,
    ...(progressToken !== undefined && { progress: tell }),
  };
}

const isInitialize = (body: unknown): boolean => (Array.isArray(body) ? body : [body]).some(isInitializeRequest);

const unknownSession = (response: ServerResponse, body: unknown): void =>
  refuse(response, 404, body, "Session not found");

function refuse(response: ServerResponse, status: number, body: unknown, message: string): void {
  const id = (body as { id?: unknown } | null | undefined)?.id ?? null;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32001, message } }));
}
