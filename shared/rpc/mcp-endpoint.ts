import type { McpDoor } from "./http.ts";
import { jsonRpc } from "./json-rpc.ts";
import { type McpSurface, mcpMethods } from "./mcp.ts";
import type { McpSessions } from "./mcp-sessions.ts";

/** Both ways into one agent's `/mcp`: plain JSON for leagues and curl, the SDK's transports for MCP clients. */
export interface McpEndpoint {
  readonly door: McpDoor;
  /** Loaded when the first MCP client comes: a league alone does without. */
  readonly sessions: () => Promise<McpSessions>;
  /** Tells whoever has subscribed to a resource that it has changed. */
  changed(uri: string): void;
  close(): Promise<void>;
}

/** `onError` is told what no caller may know. */
export function mcpEndpoint(surface: McpSurface, onError: (error: unknown) => void): McpEndpoint {
  let loading: Promise<McpSessions> | null = null;
  let loaded: McpSessions | null = null;
  const load = async (): Promise<McpSessions> => {
    const { mcpSessions } = await import("./mcp-sessions.ts");
    loaded = mcpSessions(surface, onError);
    return loaded;
  };
  return {
    door: jsonRpc(mcpMethods(surface), onError).answer,
    sessions: () => {
      loading ??= load();
      return loading;
    },
    changed: (uri) => loaded?.changed(uri),
    close: async () => loaded?.close(),
  };
}
