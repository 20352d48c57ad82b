import { invariant } from "#shared/lib/result.ts";
import { type AgentState, MAX_FAILS, transition } from "#shared/protocol/lifecycle.ts";
import type { Agent, Profile } from "./agent.ts";
import { capabilitiesOf } from "./capabilities.ts";
import type { AgentEvent } from "./events.ts";

/**
 * The agent after an event; null after `forgotten`. `profile` is the agent's row after the writes of the same decision, and `version` the
 * version of its stream after the event: an id that the config keeps is registered again in the same stream. Throws when the event cannot
 * follow; that never depends on the profile, which is the newest one also when old events are read.
 */
export function evolveAgent(
  agent: Agent | null,
  event: AgentEvent,
  profile: Profile,
  version: number = (agent?.version ?? 0) + 1,
): Agent | null {
  if (event.type === "registered") {
    invariant(agent === null, `${event.agent_id} is registered once`);
    const { agent_id: id, kind } = event;
    const state = stateAfter("INIT", "register_success");
    const fresh = { isRemoved: false, fails: 0, returnedAt: null };
    return { id, kind, state, ...fresh, ...capabilitiesOf(event), ...rowOf(profile), version };
  }
  invariant(agent !== null, `${event.type} follows the registration of an agent`);
  if (event.type === "forgotten") return null;
  return { ...agent, ...changesOf(agent, event), ...rowOf(profile), version };
}

function changesOf(agent: Agent, event: Exclude<AgentEvent, { type: "registered" | "forgotten" }>): Partial<Agent> {
  switch (event.type) {
    case "returned":
      return { ...capabilitiesOf(event), returnedAt: event.at };
    case "endpoint_lost":
    case "token_reset":
      return {}; // the profile has changed
    case "activated":
      return { state: stateAfter(agent.state, "league_start") };
    case "timed_out":
      return afterTimeout(agent);
    case "answered":
      invariant(agent.fails > 0 && agent.state !== "SHUTDOWN", `${agent.id} has a timeout before an answer clears it`);
      return { fails: 0, state: agent.state === "SUSPENDED" ? stateAfter(agent.state, "recover") : agent.state };
    case "recovered":
      return { state: stateAfter(agent.state, "recover") };
    case "renewed":
      invariant(agent.state === "SHUTDOWN", `${agent.id} is shut down before it is renewed`);
      return { fails: 0, isRemoved: false, state: stateAfter("INIT", "register_success") };
    case "dismissed":
      return { state: stateAfter(agent.state, "league_end") };
    case "removed":
      return { isRemoved: true, state: stateAfter(agent.state, "league_end") };
  }
}

/** A timeout suspends the player, the third in a row shuts it down. */
function afterTimeout({ state, fails }: Agent): Partial<Agent> {
  const suspended = state === "SUSPENDED" ? state : stateAfter(state, "timeout");
  const isLast = fails + 1 >= MAX_FAILS;
  return { fails: fails + 1, state: isLast ? stateAfter(suspended, "max_fails") : suspended };
}

function stateAfter(state: AgentState, arrow: Parameters<typeof transition>[1]): AgentState {
  const next = transition(state, arrow);
  invariant(next.ok, next.ok ? "" : next.error);
  return next.value;
}

/** The fields of a profile alone: the argument may be an agent. */
const rowOf = ({ name, salt, endpoint, tokenHash }: Profile): Profile => ({ name, salt, endpoint, tokenHash });
