import { directTools, type McpSurface, mcpMethods, subscriptionCheck } from "./mcp.ts";
import type { McpService } from "./server.ts";

/** Makes what an endpoint serves; `stateKey` signs the state between the rounds of a call. */
type MakeService = (surface: McpSurface, stateKey: string) => McpService;

const plainService: MakeService = (surface, stateKey) => ({
  serverInfo: surface.serverInfo,
  instructions: surface.instructions,
  methods: mcpMethods(surface),
  direct: directTools(surface),
  isSubscribable: subscriptionCheck(surface),
  stateKey,
  answerWithinMs: surface.answerWithinMs,
});

let make: MakeService = plainService;

/** The service of an agent's surface. */
export const serviceOf: MakeService = (surface, stateKey) => make(surface, stateKey);

/**
 * Replaces how the endpoints that this process opens from now on make their service. The official MCP conformance suite calls tools,
 * prompts and resources by fixed names that no agent has. A module that is loaded before the agent (`node --import`) adds them here,
 * so an agent neither contains them nor reads a setting for them.
 */
export function replaceService(replacement: MakeService): void {
  make = replacement;
}
