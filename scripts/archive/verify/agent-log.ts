import { type Agent, AgentEvent, evolveAgent, type Profile } from "../../../league-manager/agents/registered-agent.ts";
import { agentLogFile } from "../files.ts";
import type { LoggedRun } from "../format.ts";
import { readLog } from "./log-file.ts";
import type { Source } from "./source.ts";

/** One event of an agent's log and the state of the agent after it. */
interface AgentStep {
  readonly event: AgentEvent;
  readonly after: Agent | null;
  /** The event that shut the agent down; null if the agent is not shut down. */
  readonly cause: AgentEvent | null;
}

/** The log of a player. `steps` is empty if an event does not follow from the events before it. The step at index `n` leads to version `n + 1`. */
export interface AgentLog {
  readonly file: string;
  readonly steps: readonly AgentStep[];
}

/** The profile is not part of an agent's log, and no check needs it. */
const NO_PROFILE: Profile = { name: "", salt: "", endpoint: "", tokenHash: "" };

/** Reads the log of a player. Blames the file if an event does not follow from the events before it. */
export function readAgentLog(source: Source, { agent_id, log_head }: LoggedRun["agents"][number]): AgentLog {
  const file = agentLogFile(agent_id);
  const steps: AgentStep[] = [];
  const isSound = readLog(source, { file, schema: AgentEvent, log_head }, (event, index) => {
    const before = steps.at(-1);
    const after = evolveAgent(before?.after ?? null, event, NO_PROFILE, index + 1);
    if (event.type === "registered" && event.agent_id !== agent_id) throw new Error(`registers ${event.agent_id}`);
    if (event.type === "registered" && event.kind !== "player") throw new Error(`registers a ${event.kind}`);
    steps.push({ event, after, cause: after?.state === "SHUTDOWN" ? (before?.cause ?? event) : null });
  });
  return { file, steps: isSound ? steps : [] };
}
