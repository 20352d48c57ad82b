import { MAX_FAILS } from "#shared/protocol/lifecycle.ts";
import type { PlayerDocument } from "#shared/web/documents/player.ts";
import type { Agent } from "../../agents/agent.ts";
import type { League } from "../../league/league.ts";

const PAIRED_NO_MORE = "It is no longer paired. It forfeits its matches of later rounds.";

const DEPARTURES = {
  removed: "Removed by the operator.",
  shut_down: `Shut down: it did not answer in ${MAX_FAILS} matches in a row.`,
  left: "Has left the league.",
} as const;

/** Returns why a player no longer plays in a league; null while it does. `agent` is null if its personal data are erased. */
export function departureOf(
  { departed, status }: League,
  playerId: string,
  agent: Agent | null,
): "removed" | "shut_down" | "left" | null {
  const isShutDown = agent?.state === "SHUTDOWN" && status !== "completed";
  if (!departed.includes(playerId) && !isShutDown) return null;
  if (!agent || agent.isRemoved) return "removed";
  return agent.fails >= MAX_FAILS ? "shut_down" : "left";
}

/** The state of a player of a league in words. `agent` is null if its personal data are erased. */
export function playerState(league: League, playerId: string, agent: Agent | null): PlayerDocument["state"] {
  const attention = (text: string) => ({ text, needs_attention: true });
  if (!agent) return attention("Removed; its name and its address are erased.");
  const departure = departureOf(league, playerId, agent);
  if (departure) return attention(`${DEPARTURES[departure]} ${PAIRED_NO_MORE}`);
  if (league.status === "completed") return { text: "The league is completed.", needs_attention: false };
  if (league.status === "open") return { text: "Registered. The league has not started.", needs_attention: false };
  if (agent.state === "SUSPENDED")
    return attention(
      `Suspended: it did not answer in its last ${agent.fails === 1 ? "match" : `${agent.fails} matches`}. It is active again when it answers the health check of the league or registers again. After ${MAX_FAILS} such matches in a row it is shut down.`,
    );
  if (agent.fails > 0)
    return attention(
      `Active again. It did not answer in its last ${agent.fails === 1 ? "match" : `${agent.fails} matches`}; after ${MAX_FAILS} in a row it is shut down.`,
    );
  return { text: "Active.", needs_attention: false };
}
