import type { MessageType } from "./message-types.ts";

type AgentType = "player" | "referee" | "league_manager";

/**
 * The type of agent that sends a message type (PROTOCOL.md, section 2). Types that are not listed, such as errors and
 * tool requests, may come from any agent.
 */
const senders: Partial<Record<MessageType, AgentType>> = {
  REFEREE_REGISTER_REQUEST: "referee",
  REFEREE_REGISTER_RESPONSE: "league_manager",
  REFEREE_LEAVE: "referee",
  REFEREE_LEAVE_RESPONSE: "league_manager",
  GET_REGISTRATION_RESPONSE: "league_manager",
  PLAYER_REGISTER_REQUEST: "player",
  PLAYER_REGISTER_RESPONSE: "league_manager",
  ROUND_ANNOUNCEMENT: "league_manager",
  ROUND_START: "league_manager",
  ROUND_END: "league_manager",
  ROUND_RESULT: "referee",
  GAME_INVITE: "referee",
  GAME_INVITE_RESPONSE: "player",
  GAME_START: "referee",
  MOVE_REQUEST: "referee",
  MOVE_RESPONSE: "player",
  GAME_RESULT: "referee",
  LEAGUE_STANDINGS_UPDATE: "league_manager",
  MATCH_RESULT: "referee",
  MATCH_RESULT_RESPONSE: "league_manager",
  MATCH_WITHDRAWN: "league_manager",
  START_GAME: "league_manager",
  START_GAME_RESPONSE: "referee",
};

/** Returns the reason why an agent may not send a message of this type, or null if it may. */
export function faultOfSender(type: MessageType, sender: string): string | null {
  const agentType = senders[type];
  if (agentType === undefined || sender.startsWith(`${agentType}:`)) return null;
  return `${type} must come from a ${agentType}, not from ${sender}`;
}
