import { invariant } from "#shared/lib/result.ts";
import { type AgentState, MAX_FAILS, transition } from "#shared/protocol/lifecycle.ts";
import type { Agent, Profile } from "./agent.ts";
import { capabilitiesOf } from "./capabilities.ts";
import type { AgentEvent } from "./events.ts";

/**
 * Returns the agent after an event, or null after `forgotten`. `profile` is the agent's row after the writes of the same decision. `version` is the
 * version of its stream after the event: an id that the config reserves is registered again in the same stream. Throws if the event cannot follow
 * the earlier events. This never depends on the profile, because old events are read with the newest profile.
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
    const initial = { isRemoved: false, fails: 0, returnedAt: null };
    return { id, kind, state, ...initial, ...capabilitiesOf(event), ...rowOf(profile), version };
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
    case "erased":
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

/** A timeout suspends the player. The third in a row shuts it down. */
function afterTimeout({ state, fails }: Agent): Partial<Agent> {
  const suspended = state === "SUSPENDED" ? state : stateAfter(state, "timeout");
  const isLast = fails + 1 >= MAX_FAILS;
  return { fails: fails + 1, state: isLast ? stateAfter(suspended, "max_fails") : suspended };
}

function stateAfter(state: AgentState, trigger: Parameters<typeof transition>[1]): AgentState {
  const next = transition(state, trigger);
  invariant(next.ok, next.ok ? "" : next.error);
  return next.value;
}

/** Only the fields of the profile: the argument may be an agent. */
const rowOf = ({ name, salt, endpoint, tokenHash }: Profile): Profile => ({ name, salt, endpoint, tokenHash });
