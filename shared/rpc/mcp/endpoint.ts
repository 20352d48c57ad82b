import type { Clock } from "../../lib/clock.ts";
import type { Ids } from "../../lib/ids.ts";
import { lazily } from "../../lib/lazily.ts";
import type { McpHandler } from "../jsonrpc/http.ts";
import { jsonRpc } from "../jsonrpc/json-rpc.ts";
import type { McpSurface } from "./mcp.ts";
import { serviceOf } from "./service.ts";
import type { McpSessions } from "./sessions.ts";

/** Both ways into one agent's `/mcp`: plain JSON for leagues and curl, the SDK's transports for MCP clients. */
export interface McpEndpoint {
  readonly handler: McpHandler;
  /** Loaded when the first MCP client comes: a league alone does without. */
  readonly sessions: () => Promise<McpSessions>;
  /**
   * Tells whoever has subscribed that these resources have changed, once for all changes of one turn of the event loop. They are
   * worked out only when there is an MCP client at all.
   */
  changed(uris: () => readonly string[]): void;
  close(): Promise<void>;
}

/** `onError` is told what no caller may know. */
export function mcpEndpoint(
  surface: McpSurface,
  onError: (error: unknown) => void,
  clock: Clock,
  ids: Ids,
): McpEndpoint {
  const service = serviceOf(surface, surface.stateKey ?? ids.token());
  let loaded: McpSessions | null = null;
  const pending = new Set<string>();
  const tell = (): void => {
    for (const uri of pending) loaded?.changed(uri);
    pending.clear();
  };
  const sessions = lazily(async () => {
    const { mcpSessions } = await import("./sessions.ts");
    loaded = mcpSessions(service, onError, clock, ids);
    return loaded;
  });
  return {
    handler: jsonRpc(service.methods, onError, clock).answer,
    sessions,
    changed(uris) {
      if (!loaded) return;
      if (pending.size === 0) clock.defer(tell);
      for (const uri of uris()) pending.add(uri);
    },
    close: async () => loaded?.close(),
  };
}
