import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { parsedJson } from "../../lib/text.ts";
import type { DirectCall } from "./direct.ts";
import type { McpSessions } from "./sessions.ts";

/** What of the SDK answers a request of an MCP client. */
export type SdkHandler =
  /** The session that the request names, or 404. */
  | "session"
  /** A session that the request begins. */
  | "new session"
  /** A server for this request alone, of a revision with sessions (2024-11-05 to 2025-11-25). */
  | "no session"
  /** The revision without sessions (2026-07-28). */
  | "stateless";

/** What answers a request to `/mcp`; `message` is its parsed body, undefined for GET and DELETE. */
export type McpRoute =
  /** The JSON-RPC handler: leagues, bots, curl and batches. It also reports a body that is no JSON. */
  | { readonly to: "plain" }
  /** The same answer as from "stateless" or "no session", without the SDK. */
  | { readonly to: "direct"; readonly call: DirectCall }
  | { readonly to: SdkHandler; readonly message: unknown };

const PLAIN = { to: "plain" } as const;

/** What only the SDK knows of a request. */
type Clients = Pick<McpSessions, "direct" | "isOfSessionRevision" | "isInitialize">;

/**
 * Decides what answers a request to `/mcp` (PROTOCOL.md, section 4): the first line that applies. `loadClients` loads the SDK, which
 * leagues and curl do without.
 */
export async function routeOf(
  request: IncomingMessage,
  body: string,
  loadClients: () => Promise<Clients>,
): Promise<McpRoute> {
  const { method, headers } = request;
  const isPost = method === "POST";
  const isInSession = headers["mcp-session-id"] !== undefined;
  if (isPost && !isInSession && !acceptsJsonAndStream(headers)) return PLAIN;
  const message = isPost ? parsedJson(body) : undefined;
  if (isPost && message === undefined) return PLAIN;
  if (isInSession) return { to: "session", message };
  // A bot may accept everything: it is an MCP client if it names a revision of MCP.
  if (isLeagueMessage(message) && headers["mcp-protocol-version"] === undefined) return PLAIN;
  const clients = await loadClients();
  const call = clients.direct.find(headers, message);
  if (call) return { to: "direct", call };
  if (!(await clients.isOfSessionRevision(request, message))) return { to: "stateless", message };
  return { to: clients.isInitialize(message) ? "new session" : "no session", message };
}

/** The SDK's transports refuse clients that do not accept both. */
const acceptsJsonAndStream = ({ accept = "" }: IncomingHttpHeaders): boolean =>
  accept.includes("application/json") && accept.includes("text/event-stream");

function isLeagueMessage(message: unknown): boolean {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
  return method === "tools/call" && params?.name === "league_message";
}
