import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { lazily } from "#shared/lib/lazy.ts";
import type { McpHandler } from "#shared/rpc/jsonrpc/http-context.ts";
import { jsonRpc } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { directTools, type McpSurface, mcpMethods, subscriptionCheck } from "./methods.ts";
import type { McpService } from "./sdk-server.ts";
import type { McpSessions } from "./sessions.ts";

/** The MCP service of one agent with the two handlers of `/mcp`: plain JSON-RPC for leagues and curl, and the SDK's transports for MCP clients. */
export interface McpEndpoint {
  readonly service: McpService;
  readonly handler: McpHandler;
  /** Loaded for the first MCP client: a league does not need it. */
  readonly sessions: () => Promise<McpSessions>;
  /**
   * Notifies the subscribed clients that these resources have changed, once for all changes of one turn of the event loop. `uris` is called
   * only if there may be a subscriber.
   */
  notifyChanged(uris: () => readonly string[]): void;
  /** Calls `listener` with the URI of each changed resource. */
  watch(listener: (uri: string) => void): void;
  close(): Promise<void>;
}

/** `onError` receives internal errors, which are not sent to callers. */
export function mcpEndpoint(
  surface: McpSurface,
  onError: (error: unknown) => void,
  clock: Clock,
  ids: Ids,
): McpEndpoint {
  const service = serviceOf(surface, surface.stateKey ?? ids.token());
  let loaded: McpSessions | null = null;
  const listeners: ((uri: string) => void)[] = [];
  const changedUris = new Set<string>();
  const notify = (): void => {
    for (const uri of changedUris) for (const listener of listeners) listener(uri);
    changedUris.clear();
  };
  const sessions = lazily("the sessions of MCP clients", async () => {
    const { mcpSessions } = await import("./sessions.ts");
    if (loaded) return loaded; // by an earlier load, which took too long
    const created = mcpSessions(service, onError, clock, ids);
    listeners.push((uri) => created.notifyChanged(uri));
    loaded = created;
    return created;
  });
  return {
    service,
    handler: jsonRpc(service.methods, onError, surface.answerForeign).answer,
    sessions,
    notifyChanged(uris) {
      if (listeners.length === 0) return;
      if (changedUris.size === 0) clock.defer(notify);
      for (const uri of uris()) changedUris.add(uri);
    },
    watch: (listener) => void listeners.push(listener),
    close: async () => loaded?.close(),
  };
}

/** Creates the service of an endpoint. `stateKey` signs the state between the rounds of a call. */
type CreateService = (surface: McpSurface, stateKey: string) => McpService;

const plainService: CreateService = (surface, stateKey) => ({
  serverInfo: surface.serverInfo,
  instructions: surface.instructions,
  methods: mcpMethods(surface),
  direct: directTools(surface),
  isSubscribable: subscriptionCheck(surface),
  stateKey,
  sessionPrefix: surface.sessionPrefix,
  answerWithinMs: surface.answerWithinMs,
});

let create: CreateService = plainService;

/** Returns the service of an agent's surface. */
export const serviceOf: CreateService = (surface, stateKey) => create(surface, stateKey);

/**
 * Replaces the function that creates the services of later endpoints of this process. The official MCP conformance suite calls tools,
 * prompts and resources by fixed names. A module that is loaded before the agent (`node --import`) adds them by this
 * function, so that agents do not contain them.
 */
export function replaceService(replacement: CreateService): void {
  create = replacement;
}
