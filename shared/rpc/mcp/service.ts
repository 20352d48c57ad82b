import { directTools, type McpSurface, mcpMethods, subscriptionCheck } from "./mcp.ts";
import type { McpService } from "./server.ts";

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
