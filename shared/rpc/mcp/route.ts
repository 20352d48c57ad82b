import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { foreignRequestIn } from "#shared/protocol/dialects/incoming-requests.ts";
import { parsedJson } from "../../lib/text.ts";
import type { DirectCall } from "./direct-calls.ts";
import { withArguments } from "./methods.ts";
import type { McpSessions, SdkHandler } from "./sessions.ts";

/** The handler of a request to `/mcp`. `message` is the parsed body, undefined for GET and DELETE. */
export type McpRoute =
  /** The JSON-RPC handler, for leagues, bots, curl and batches. It rejects a body that is not JSON. */
  | { readonly to: "plain" }
  /** The same answer as from "stateless" or "no session", without the SDK. */
  | { readonly to: "direct"; readonly call: DirectCall }
  | { readonly to: SdkHandler; readonly message: unknown };

const PLAIN = { to: "plain" } as const;

/** The functions of the SDK that classify requests. */
type SdkRules = Pick<McpSessions, "direct" | "isOfSessionRevision" | "isInitialize">;

/**
 * Determines the handler of a request to `/mcp` by the first matching line of PROTOCOL.md, section 4. `loadSdkRules` loads the SDK, which
 * leagues and curl do not need.
 */
export async function routeOf(
  request: IncomingMessage,
  body: string,
  loadSdkRules: () => Promise<SdkRules>,
): Promise<McpRoute> {
  const { method, headers } = request;
  const isPost = method === "POST";
  const isInSession = headers["mcp-session-id"] !== undefined;
  if (isPost && !isInSession && !acceptsJsonAndStream(headers)) return PLAIN;
  const message = isPost ? withArguments(parsedJson(body)) : undefined;
  if (isPost && message === undefined) return PLAIN;
  if (isInSession) return { to: "session", message };
  // A bot may accept every content type. It is an MCP client only if it names a revision of MCP.
  if (isLeagueMessage(message) && headers["mcp-protocol-version"] === undefined) return PLAIN;
  const rules = await loadSdkRules();
  const call = rules.direct.find(headers, message);
  if (call) return { to: "direct", call };
  if (!(await rules.isOfSessionRevision(request, message))) return { to: "stateless", message };
  return { to: rules.isInitialize(message) ? "new session" : "no session", message };
}

/** The SDK's transports reject clients that do not accept both. */
const acceptsJsonAndStream = ({ accept = "" }: IncomingHttpHeaders): boolean =>
  accept.includes("application/json") && accept.includes("text/event-stream");

function isLeagueMessage(message: unknown): boolean {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
  return (method === "tools/call" && params?.name === "league_message") || foreignRequestIn(message) !== null;
}
