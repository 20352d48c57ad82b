import { isDeepStrictEqual } from "node:util";
import { sha256Hex } from "#shared/lib/hash.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { Agent, AgentKind, Capabilities, Profile } from "./agent.ts";
import { capabilitiesOf, fieldsOf } from "./capabilities.ts";
import type { NewAgentEvent } from "./events.ts";

interface MatchKey {
  readonly leagueId: string;
  readonly matchId: string;
  readonly epoch: number;
}

/** The commands to one agent. A command that changes nothing is accepted without events. */
export type AgentCommand =
  | {
      readonly type: "register";
      readonly agentId: string;
      readonly kind: AgentKind;
      readonly capabilities: Capabilities;
      readonly profile: Profile;
    }
  /** The agent registers again. `profile` replaces its row. */
  | { readonly type: "return"; readonly capabilities: Capabilities; readonly profile: Profile }
  | { readonly type: "lose_endpoint" }
  | { readonly type: "reset_token" }
  /** A league of the agent starts. */
  | { readonly type: "activate" }
  /** The agent lost a match because it did not answer in time. */
  | ({ readonly type: "time_out" } & MatchKey)
  /** The agent finished a match without a timeout. */
  | ({ readonly type: "answer" } & MatchKey)
  | { readonly type: "recover"; readonly by: "health" | "registration" }
  /** The agent enters a league after its leagues are over. */
  | { readonly type: "renew" }
  /** All leagues of the agent are over. */
  | { readonly type: "dismiss" }
  | { readonly type: "remove" }
  /** The profile of the agent is erased. The agent stays, because leagues name it. */
  | { readonly type: "erase" }
  | { readonly type: "forget"; readonly reason: ForgetReason };

type ForgetReason = NonNullable<Extract<NewAgentEvent, { type: "forgotten" }>["reason"]>;

type AgentDecision = Result<readonly NewAgentEvent[], ProtocolError>;

/** Commitment to a name. Events contain it instead of the name, which is in the profile and can be erased. */
export const nameCommitment = ({ name, salt }: Pick<Profile, "name" | "salt">): string => sha256Hex(`${salt}\n${name}`);

/** Returns the events of a command, or L003 for a second registration and L004 for an agent that is not registered. */
export function decideAgent(agent: Agent | null, command: AgentCommand): AgentDecision {
  if (command.type === "register") {
    const { agentId: agent_id, kind, profile, capabilities } = command;
    if (agent) return err(protocolError("L003", `${agent_id} is already registered`, { agent_id }));
    const name_commitment = nameCommitment(profile);
    return ok([{ type: "registered", agent_id, kind, name_commitment, ...fieldsOf(capabilities) }]);
  }
  if (!agent) return err(protocolError("L004", "the agent is not registered"));
  const event = eventOf(agent, command);
  return ok(event ? [event] : []);
}

function eventOf(agent: Agent, command: Exclude<AgentCommand, { type: "register" }>): NewAgentEvent | null {
  const isPlaying = agent.state === "ACTIVE" || agent.state === "SUSPENDED";
  switch (command.type) {
    case "return":
      return isChange(agent, command) ? { type: "returned", ...fieldsOf(command.capabilities) } : null;
    case "lose_endpoint":
      return agent.endpoint === "" ? null : { type: "endpoint_lost" };
    case "reset_token":
      return { type: "token_reset" };
    case "activate":
      return agent.state === "REGISTERED" ? { type: "activated" } : null;
    case "time_out":
      return isPlaying ? { type: "timed_out", ...keyOf(command) } : null;
    case "answer":
      return isPlaying && agent.fails > 0 ? { type: "answered", ...keyOf(command) } : null;
    case "recover":
      return agent.state === "SUSPENDED" ? { type: "recovered", by: command.by } : null;
    case "renew":
      return agent.state === "SHUTDOWN" ? { type: "renewed" } : null;
    case "dismiss":
      return agent.state === "SHUTDOWN" ? null : { type: "dismissed" };
    case "remove":
      return agent.state === "SHUTDOWN" ? null : { type: "removed" };
    case "erase":
      return isErased(agent) ? null : { type: "erased" };
    case "forget":
      return { type: "forgotten", reason: command.reason };
  }
}

/** Whether the profile of an agent has been erased. Each profile has a salt. */
const isErased = ({ salt }: Agent): boolean => salt === "";

/** Whether an agent that registers again has another endpoint or other capabilities than before. */
export const isChange = (
  agent: Agent,
  { capabilities, profile }: { readonly capabilities: Capabilities; readonly profile: Pick<Profile, "endpoint"> },
): boolean => agent.endpoint !== profile.endpoint || !isDeepStrictEqual(capabilitiesOf(fieldsOf(agent)), capabilities);

const keyOf = ({ leagueId: league_id, matchId: match_id, epoch }: MatchKey) => ({ league_id, match_id, epoch });
