import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  legacyStatelessFallback,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { HttpContext } from "./http.ts";
import { type McpSurface, mcpMethods } from "./mcp.ts";

/** MCP clients of both eras at one endpoint: sessions of 2024-11-05 to 2025-11-25, and the stateless 2026-07-28. */
export interface McpSessions {
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

const IDLE_MS = 10 * 60_000;
const LOOK_EVERY_MS = 60_000;
const MAX_SESSIONS = 5_000;

/** The SDK's transports before one surface. Nothing of the surface is written twice: each method is the plain router's own. */
export function mcpSessions(surface: McpSurface, onError: (error: unknown) => void): McpSessions {
  const sessions = new Map<string, Session>();
  const build = (subscriptions?: Set<string>): Server => serverOf(surface, subscriptions);
  const modern = createMcpHandler(() => build(), { legacy: "reject", onerror: onError });
  const answerModern = toNodeHandler(modern, { onerror: onError });
  const answerStateless = toNodeHandler({ fetch: legacyStatelessFallback(() => build(), onError) });

  const look = setInterval(() => {
    const latest = Date.now() - IDLE_MS;
    for (const { transport, open, usedAt } of sessions.values()) {
      if (open === 0 && usedAt < latest) void transport.close();
    }
  }, LOOK_EVERY_MS);
  look.unref();

  const begin = async (): Promise<Session> => {
    const subscriptions = new Set<string>();
    const server = build(subscriptions);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
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
    async handle(request, response, body, http) {
      const as = Object.assign(request, { auth: authOf(http), method: request.method ?? "", url: request.url ?? "" });
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

/** An SDK server that answers with the plain router's methods. */
function serverOf(surface: McpSurface, subscriptions: Set<string> | undefined): Server {
  const methods = mcpMethods(surface);
  const capabilities = { tools: {}, resources: { subscribe: true } };
  const server = new Server(surface.serverInfo, { capabilities });
  for (const method of ["tools/list", "resources/list", "resources/templates/list", "resources/read"] as const) {
    // The SDK checks every answer against the protocol's own schema.
    server.setRequestHandler(method, async ({ params }) => (await methods[method]?.(params, NOBODY)) as never);
  }
  server.setRequestHandler(
    "tools/call",
    async ({ params }, context) => (await methods["tools/call"]?.(params, callerOf(context))) as never,
  );
  server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    subscriptions?.add(uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    subscriptions?.delete(uri);
    return {};
  });
  return server;
}

const NOBODY: HttpContext = { bearer: null, remoteAddress: "" };

/** The caller's bearer token and address travel through the SDK as its authentication information. */
const authOf = ({ bearer, remoteAddress }: HttpContext) => ({
  token: bearer ?? "",
  clientId: remoteAddress,
  scopes: [],
});

function callerOf({ http }: ServerContext): HttpContext {
  const { token = "", clientId = "" } = http?.authInfo ?? {};
  return { bearer: token === "" ? null : token, remoteAddress: clientId };
}

const isInitialize = (body: unknown): boolean => (Array.isArray(body) ? body : [body]).some(isInitializeRequest);

const unknownSession = (response: ServerResponse, body: unknown): void =>
  refuse(response, 404, body, "Session not found");

function refuse(response: ServerResponse, status: number, body: unknown, message: string): void {
  const id = (body as { id?: unknown } | null | undefined)?.id ?? null;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32001, message } }));
}
