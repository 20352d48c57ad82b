import { isToken } from "#shared/lib/ids.ts";
import { DisplayName } from "#shared/protocol/message-fields.ts";
import { nameCommitment } from "../../../league-manager/agents/registered-agent.ts";
import { RUN_FILE } from "../files.ts";
import type { LoggedRun } from "../format.ts";
import type { AgentLog } from "./agent-log.ts";
import type { Findings } from "./findings.ts";
import type { LeagueLog } from "./league-log.ts";

/** Checks each name against the commitments in the registration of its player and in the player's entries into leagues. */
export function checkNames(
  findings: Findings,
  run: LoggedRun,
  agents: ReadonlyMap<string, AgentLog>,
  logs: readonly LeagueLog[],
): void {
  const salts = new Map<string, string | null>();
  for (const [index, { league_id, players }] of run.leagues.entries()) {
    const entrants = logs[index]?.league?.entrants;
    if (!entrants) continue;
    for (const { player_id, display_name: name, salt } of players) {
      const label = `the name of ${player_id} in ${league_id}`;
      const commitment = entrants.get(player_id);
      if (salt === null) {
        if (name === player_id) findings.except(RUN_FILE, `${label} is erased`);
        else findings.blame(RUN_FILE, `${label} has no salt and cannot be checked`);
      } else {
        if (!isDisplayName(name)) findings.blame(RUN_FILE, `${label} is not a name that a player can register with`);
        if (!isToken(salt)) findings.blame(RUN_FILE, `${label} has a salt that is not a token`);
        if (nameCommitment({ name, salt }) !== commitment)
          findings.blame(RUN_FILE, `${label} is not the name with which the player entered: the hash differs`);
      }
      const agent = agents.get(player_id);
      if (agent && agent.steps.length > 0 && registeredName(agent) !== commitment)
        findings.blame(agent.file, `its name is not the name with which it entered ${league_id}`);
      if (salts.has(player_id) && salts.get(player_id) !== salt)
        findings.blame(RUN_FILE, `${label} has a salt that differs from that in an earlier league`);
      salts.set(player_id, salt);
    }
  }
}

/** Whether a player can register with a name. A registration removes spaces around a name. */
const isDisplayName = (name: string): boolean => DisplayName.safeParse(name).data === name;

/** Returns the commitment of the name of the last registration. Players of a league are never forgotten, so they keep this name. */
function registeredName({ steps }: AgentLog): string | null {
  const registered = steps.findLast(({ event }) => event.type === "registered")?.event;
  return registered?.type === "registered" ? registered.name_commitment : null;
}
