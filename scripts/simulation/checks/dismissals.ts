import type { LogEntry } from "./log.ts";
import { type Fault, faultsOf } from "./rules.ts";
import { LAST_TIMEOUT } from "./timeouts.ts";

/** What follows from the events of an agent. */
interface Agent {
  readonly isReferee: boolean;
  hasEntered: boolean;
  isOut: boolean;
  timeouts: number;
}

/**
 * Returns the agents that are still active when the only league of a run has ended, of its players and of all referees. Agents that register or are renewed
 * after the end are left out. Runs with several leagues are not checked.
 */
export function faultsOfDismissals(log: readonly LogEntry[]): readonly Fault[] {
  const isOnlyLeague = log.every(({ stream }) => !stream.startsWith("league:") || stream === "league:sim");
  const end = log.findIndex(({ stream, event }) => stream === "league:sim" && event.type === "completed");
  if (!isOnlyLeague || end < 0) return [];
  const agents = new Map<string, Agent>();
  for (const [index, { stream, event }] of log.entries()) {
    if ("player_id" in event && event.type === "player_entered") {
      const player = agents.get(event.player_id);
      if (player) player.hasEntered = true;
    }
    const id = stream.startsWith("agent:") ? stream.slice("agent:".length) : null;
    if (id === null) continue;
    if (event.type === "forgotten" || (event.type === "renewed" && index > end)) agents.delete(id);
    else if (event.type === "registered" && index < end) {
      const isReferee = "kind" in event && event.kind === "referee";
      agents.set(id, { isReferee, hasEntered: false, isOut: false, timeouts: 0 });
    }
    const agent = agents.get(id);
    if (agent) follow(agent, event.type);
  }
  const active = [...agents].filter(([, { isReferee, hasEntered, isOut }]) => (isReferee || hasEntered) && !isOut);
  return faultsOf(
    "end",
    active.map(([id]) => `${id} was not dismissed at the end of the league`),
  );
}

function follow(agent: Agent, type: string): void {
  if (type === "timed_out") agent.timeouts++;
  if (type === "answered" || type === "renewed") agent.timeouts = 0;
  if (type === "dismissed" || type === "removed" || agent.timeouts >= LAST_TIMEOUT) agent.isOut = true;
  if (type === "renewed") agent.isOut = false;
}
