import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import type { AgentLog } from "./agent-log.ts";
import type { LeagueLog } from "./league-log.ts";
import type { Source } from "./source.ts";
import { checkTimeouts } from "./timeouts.ts";

/**
 * Checks that the log of each absent player contains the cause of its absence. A player is shut down by the operator or by three timeouts in a row, and
 * is then absent from all later rounds of its league. Each timeout must be a completed match with this fault. The log of a league may name the
 * operator as the cause only if the log of the player does; logs of earlier versions do not name the operator.
 */
export function checkAbsences(source: Source, agents: ReadonlyMap<string, AgentLog>, logs: readonly LeagueLog[]): void {
  for (const log of logs) {
    for (const event of log.events) {
      if (event.type === "round_opened") checkCauses(source, agents, log, event);
      if (event.type === "player_left") checkDeparture(source, agents, log, event);
    }
  }
  checkTimeouts(source, agents, logs);
}

function checkCauses(
  { findings }: Source,
  agents: ReadonlyMap<string, AgentLog>,
  { file, league }: LeagueLog,
  { absent, round_id }: Extract<LeagueEvent, { type: "round_opened" }>,
): void {
  for (const { player_id, agent_version, removed } of absent) {
    const text = `${player_id} is absent from round ${round_id} of ${league?.leagueId}`;
    const cause = agents.get(player_id)?.steps[agent_version - 1]?.cause;
    if (cause?.type === "dismissed") findings.except(file, `${text}: it has left`);
    else if (cause?.type === "removed") findings.except(file, `${text}: the operator removed it`);
    else if (cause?.type !== "timed_out")
      findings.blame(file, `${text}, but neither timeouts nor the operator had shut it down`);
    else if (removed) findings.blame(file, `${text}: timeouts shut it down, and the operator did not remove it`);
  }
}

/** A player that leaves after the start is paired no more, so its own log must contain the cause. */
function checkDeparture(
  { findings }: Source,
  agents: ReadonlyMap<string, AgentLog>,
  { file, league }: LeagueLog,
  { player_id, agent_version }: Extract<LeagueEvent, { type: "player_left" }>,
): void {
  if (agent_version === undefined) return;
  const text = `${player_id} leaves ${league?.leagueId} after its start`;
  const cause = agents.get(player_id)?.steps[agent_version - 1]?.cause;
  if (cause?.type === "removed") findings.except(file, `${text}: the operator removed it`);
  else if (cause?.type === "dismissed") findings.except(file, `${text} at its own request`);
  else if (cause?.type !== "timed_out")
    findings.blame(file, `${text}, but neither timeouts nor the operator had shut it down`);
}
