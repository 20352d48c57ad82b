import { MAX_FAILS } from "#shared/protocol/lifecycle.ts";
import type { PlayerDocument } from "#shared/web/documents/player.ts";
import type { Agent } from "../../agents/agent.ts";
import type { League } from "../../league/league.ts";

const PAIRED_NO_MORE = "It is paired no more, and its open matches of later rounds are forfeited.";

/** The state of a player of a league in words. `agent` is null if its personal data are erased. */
export function playerState(league: League, playerId: string, agent: Agent | null): PlayerDocument["state"] {
  const attention = (text: string) => ({ text, needs_attention: true });
  const hasLeft = league.departed.includes(playerId) || (agent?.state === "SHUTDOWN" && league.status !== "completed");
  if (!agent) return attention("Removed; its name and its address are erased.");
  if (hasLeft) {
    if (agent.isRemoved) return attention(`Removed by the operator. ${PAIRED_NO_MORE}`);
    if (agent.fails >= MAX_FAILS)
      return attention(`Shut down: it did not answer in ${MAX_FAILS} matches in a row. ${PAIRED_NO_MORE}`);
    return attention(`Has left the league. ${PAIRED_NO_MORE}`);
  }
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
