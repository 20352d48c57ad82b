import type { Creation } from "#shared/rpc/jsonrpc/rate-limit.ts";
import type { Operation } from "#shared/rpc/mcp/operations.ts";
import type { Agent } from "../agents/agent.ts";
import { hostedOperations } from "../hosted/operations.ts";
import type { Seats } from "../hosted/seats.ts";
import { agentOperations } from "./agent-operations.ts";
import { operatorOperations } from "./operator-operations.ts";
import { readOperations } from "./read-operations.ts";

/** The context that the operations need. */
type OperationsContext = Parameters<typeof agentOperations>[0] &
  Parameters<typeof operatorOperations>[0] &
  Parameters<typeof readOperations>[0] & { readonly seats: Seats };

/** The tools and message types that register an agent, with the kind of the agent. */
export const REGISTRATIONS: Readonly<Record<string, Agent["kind"]>> = {
  PLAYER_REGISTER_REQUEST: "player",
  register_player: "player",
  JOIN_LEAGUE: "player",
  join_league: "player",
  REFEREE_REGISTER_REQUEST: "referee",
  register_referee: "referee",
};

/** Whether the registrations of a request all name the agent whose token the request carries. Such a request is not rate-limited. */
export const isReturn = (agent: Agent | null, { requests, names }: Creation): boolean =>
  agent !== null &&
  requests.every((request) => REGISTRATIONS[request] === agent.kind) &&
  names.length > 0 &&
  names.every((name) => name === agent.name);

/** The operations of the league manager (PROTOCOL.md, sections 2 and 4). */
export const managerOperations = (context: OperationsContext): readonly Operation<unknown>[] => [
  ...agentOperations(context),
  ...readOperations(context),
  ...hostedOperations(context.seats),
  ...operatorOperations(context),
];
