import { type AgentState, transition } from "#shared/protocol/lifecycle.ts";
import type { AgentRow } from "./tables.ts";

export type AgentKind = AgentRow["kind"];

/** A registered agent. Its `state` changes only along the arrows of `shared/protocol/lifecycle.ts`, and when it enters another league. */
export interface Agent {
  readonly id: string;
  readonly kind: AgentKind;
  readonly name: string;
  /** Empty if the player had stopped and another one got its endpoint: the player cannot be reached until it registers again. */
  endpoint: string;
  tokenHash: string;
  gameTypes: readonly string[];
  wantsLegalActions: boolean;
  wantsRoundResults: boolean;
  takesBatches: boolean;
  maxConcurrent: number;
  dialect: string;
  state: AgentState;
  fails: number;
}

export interface Registration {
  readonly kind: AgentKind;
  readonly name: string;
  readonly endpoint: string;
  readonly gameTypes: readonly string[];
  readonly wantsLegalActions: boolean;
  readonly wantsRoundResults: boolean;
  readonly takesBatches: boolean;
  readonly maxConcurrent: number;
  readonly remoteAddress: string;
  /** The token of an agent that registers again; the token that a new agent proposes. */
  readonly token: string | null;
}

export function newAgent(id: string, registration: Registration): Agent {
  const { kind, name, endpoint, gameTypes, wantsLegalActions, wantsRoundResults, takesBatches, maxConcurrent } =
    registration;
  const initial = transition("INIT", "register_success");
  return {
    id,
    kind,
    name,
    endpoint,
    tokenHash: "",
    gameTypes,
    wantsLegalActions,
    wantsRoundResults,
    takesBatches,
    maxConcurrent,
    dialect: "native",
    state: initial.ok ? initial.value : "INIT",
    fails: 0,
  };
}

export const agentOf = (row: AgentRow): Agent => ({
  id: row.agent_id,
  kind: row.kind,
  name: row.display_name,
  endpoint: row.endpoint,
  tokenHash: row.token_hash,
  gameTypes: JSON.parse(row.game_types) as string[],
  wantsLegalActions: row.legal_actions === 1,
  wantsRoundResults: row.round_results === 1,
  takesBatches: row.batch === 1,
  maxConcurrent: row.max_concurrent,
  dialect: row.dialect,
  state: row.state as AgentState,
  fails: row.fails,
});

export const rowOf = (agent: Agent): AgentRow => ({
  agent_id: agent.id,
  kind: agent.kind,
  display_name: agent.name,
  endpoint: agent.endpoint,
  token_hash: agent.tokenHash,
  state: agent.state,
  fails: agent.fails,
  game_types: JSON.stringify(agent.gameTypes),
  legal_actions: agent.wantsLegalActions ? 1 : 0,
  round_results: agent.wantsRoundResults ? 1 : 0,
  batch: agent.takesBatches ? 1 : 0,
  max_concurrent: agent.maxConcurrent,
  dialect: agent.dialect,
});
