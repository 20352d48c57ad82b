import { MAX_FAILS } from "#shared/protocol/lifecycle.ts";
import type { PlayerDocument } from "#shared/web/documents/player.ts";
import type { Agent } from "../../agents/agent.ts";
import type { League } from "../../league/league.ts";

/** What happens with the matches of a player that no longer plays. A round robin has paired them at the start. */
function laterMatches({ rounds, currentRound, status }: League, playerId: string): string {
  if (status === "completed") return "";
  const later = rounds.slice(currentRound ?? rounds.length);
  const isPaired = later.some(({ matches }) => matches.some(({ players }) => players.includes(playerId)));
  return isPaired ? " It forfeits its matches of later rounds." : " It is not paired any more.";
}

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
  if (departure) return attention(`${DEPARTURES[departure]}${laterMatches(league, playerId)}`);
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
