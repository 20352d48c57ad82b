import { err, ok, type Result } from "../lib/result.ts";

export const agentStates = ["INIT", "REGISTERED", "ACTIVE", "SUSPENDED", "SHUTDOWN"] as const;
export type AgentState = (typeof agentStates)[number];

export const agentEvents = [
  "register_success",
  "error",
  "league_start",
  "league_end",
  "timeout",
  "recover",
  "max_fails",
] as const;
export type AgentEvent = (typeof agentEvents)[number];

/**
 * The next state for each state and event (PROTOCOL.md, section 2). At the end of a league every registered agent goes
 * to SHUTDOWN.
 */
const transitions: Readonly<Record<AgentState, Partial<Record<AgentEvent, AgentState>>>> = {
  INIT: { register_success: "REGISTERED", error: "SHUTDOWN" },
  REGISTERED: { league_start: "ACTIVE", league_end: "SHUTDOWN" },
  ACTIVE: { timeout: "SUSPENDED", league_end: "SHUTDOWN" },
  SUSPENDED: { recover: "ACTIVE", max_fails: "SHUTDOWN", league_end: "SHUTDOWN" },
  SHUTDOWN: {},
};

/** Returns the state after an event, or a message if the state has no transition for the event. */
export function transition(state: AgentState, event: AgentEvent): Result<AgentState, string> {
  const next = transitions[state][event];
  return next ? ok(next) : err(`${event} is not possible in state ${state}`);
}

/** The number of consecutive matches lost by TIMEOUT after which a player is shut down (PROTOCOL.md, section 2). */
export const MAX_FAILS = 3;
