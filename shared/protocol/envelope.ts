import "#shared/lib/schema-messages.ts";
import { z } from "zod";
import { cutTo, inOneLine, isName } from "#shared/lib/text.ts";

/** The message types of PROTOCOL.md, section 2, and after the line the messages of the named tools (section 4). */
export const messageTypes = [
  "REFEREE_REGISTER_REQUEST",
  "REFEREE_REGISTER_RESPONSE",
  "REFEREE_LEAVE",
  "REFEREE_LEAVE_RESPONSE",
  "GET_REGISTRATION",
  "GET_REGISTRATION_RESPONSE",
  "PLAYER_REGISTER_REQUEST",
  "PLAYER_REGISTER_RESPONSE",
  "ROUND_ANNOUNCEMENT",
  "ROUND_START",
  "ROUND_END",
  "ROUND_RESULT",
  "GAME_INVITE",
  "GAME_INVITE_RESPONSE",
  "GAME_START",
  "MOVE_REQUEST",
  "MOVE_RESPONSE",
  "GAME_RESULT",
  "LEAGUE_STANDINGS_UPDATE",
  "MATCH_RESULT",
  "MATCH_RESULT_RESPONSE",
  "MATCH_WITHDRAWN",
  "LEAGUE_ERROR",
  "GAME_ERROR",
  "ACK",
  // ---
  "GET_STANDINGS",
  "GET_STANDINGS_RESPONSE",
  "GET_RATINGS",
  "GET_RATINGS_RESPONSE",
  "GET_SCHEDULE",
  "GET_SCHEDULE_RESPONSE",
  "SCHEDULE_MATCH",
  "SCHEDULE_MATCH_RESPONSE",
  "OPEN_LEAGUE",
  "OPEN_LEAGUE_RESPONSE",
  "START_LEAGUE",
  "START_LEAGUE_RESPONSE",
  "LEAGUE_STATUS",
  "LEAGUE_STATUS_RESPONSE",
  "PAUSE_LEAGUE",
  "PAUSE_LEAGUE_RESPONSE",
  "RESUME_LEAGUE",
  "RESUME_LEAGUE_RESPONSE",
  "EXTEND_LEAGUE",
  "EXTEND_LEAGUE_RESPONSE",
  "END_LEAGUE",
  "END_LEAGUE_RESPONSE",
  "ADD_PLAYER",
  "ADD_PLAYER_RESPONSE",
  "ANNUL_MATCH",
  "ANNUL_MATCH_RESPONSE",
  "LIST_LEAGUES",
  "LIST_LEAGUES_RESPONSE",
  "REMOVE_PLAYER",
  "REMOVE_PLAYER_RESPONSE",
  "FORGET_PLAYER",
  "FORGET_PLAYER_RESPONSE",
  "RESET_TOKEN",
  "RESET_TOKEN_RESPONSE",
  "START_GAME",
  "START_GAME_RESPONSE",
  "VALIDATE_MOVE",
  "VALIDATE_MOVE_RESPONSE",
  "GET_GAME_STATE",
  "GET_GAME_STATE_RESPONSE",
  "CREATE_GAME",
  "CREATE_GAME_RESPONSE",
  "JOIN_GAME",
  "JOIN_GAME_RESPONSE",
  "WAIT_FOR_NEXT_TURN",
  "WAIT_FOR_NEXT_TURN_RESPONSE",
  "FINISH_TURN",
  "FINISH_TURN_RESPONSE",
  "CREATE_NEW_GAME",
  "CREATE_NEW_GAME_RESPONSE",
  "CONTINUE_GAME",
  "CONTINUE_GAME_RESPONSE",
  "END_GAME",
  "END_GAME_RESPONSE",
  "JOIN_LEAGUE",
  "JOIN_LEAGUE_RESPONSE",
  "WAIT_FOR_TURN",
  "WAIT_FOR_TURN_RESPONSE",
  "LEAVE_LEAGUE",
  "LEAVE_LEAGUE_RESPONSE",
  "MAKE_MOVE",
  "MAKE_MOVE_RESPONSE",
  "GET_MY_STATE",
  "GET_MY_STATE_RESPONSE",
] as const;
export type MessageType = (typeof messageTypes)[number];

export const PROTOCOL = "league.v2";

const senderPattern = /^(player|referee|league_manager):.{1,200}$/u;
const uuidV4Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const utcPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)$/;

/**
 * Returns whether the date exists in the calendar and the time is valid. JavaScript would turn 30 February into 2
 * March.
 */
function isCalendarDate(text: string): boolean {
  if (Number.isNaN(Date.parse(text))) return false;
  const day = Number(text.slice(8, 10));
  return new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate() >= day;
}

/** The league.v2 envelope (PROTOCOL.md, section 1). Unknown fields are ignored. */
export const Envelope = z.compile(
  z.object({
    protocol: z.literal(PROTOCOL, 'must be "league.v2"'),
    message_id: z.string().regex(uuidV4Pattern, "must be a UUID v4"),
    type: z.enum(messageTypes, "unknown message type"),
    // Before its registration an agent has its name as its id, which may contain spaces.
    sender: z
      .string()
      .regex(senderPattern, { error: "must be agent_type:agent_id", abort: true })
      .refine(isName, "must be agent_type:agent_id"),
    timestamp: z
      .string()
      .regex(utcPattern, { error: "must be ISO 8601 UTC, ending in Z or +00:00", abort: true })
      .refine(isCalendarDate, "is not a date"),
    // Only the type is checked here. The schema of each message parses the payload.
    payload: z
      .custom<Record<string, unknown>>(
        (value) => typeof value === "object" && value !== null && !Array.isArray(value),
        "must be an object",
      )
      .meta({ type: "object" }),
    auth_token: z.string().max(1000).nullish(),
    correlation_id: z.string().max(200).nullish(),
  }),
);
export type Envelope = z.infer<typeof Envelope>;

/** Returns whether the arguments of a tool are an envelope and not plain arguments. */
export const looksLikeEnvelope = (args: unknown): boolean =>
  typeof args === "object" && args !== null && "protocol" in args;

export interface EnvelopeOptions {
  readonly authToken?: string | undefined;
  /** The `message_id` of the request that the message answers. */
  readonly correlationId?: string | undefined;
  /** A random UUID, or the `derivedMessageId` of a message that may be sent again. */
  readonly messageId: string;
  /** The timestamp, ISO 8601 UTC: `Clock.iso()`. */
  readonly at: string;
}

/** Creates an envelope. Optional fields are omitted if their options are undefined. */
export function newEnvelope(type: MessageType, sender: string, payload: object, options: EnvelopeOptions): Envelope {
  return {
    protocol: PROTOCOL,
    message_id: options.messageId,
    type,
    sender,
    timestamp: options.at,
    payload: payload as Record<string, unknown>,
    ...(options.authToken !== undefined && { auth_token: options.authToken }),
    ...(options.correlationId !== undefined && { correlation_id: options.correlationId }),
  };
}

/** A fault that a schema has found. `path` is dotted, and empty for the whole value. */
export interface FieldFault {
  readonly path: string;
  readonly message: string;
}

/** Returns the faults of a schema error. Their paths begin with `prefix` if it is given. */
export const fieldFaults = (error: z.ZodError, prefix = ""): readonly FieldFault[] =>
  error.issues.map((issue) => ({
    path: [...(prefix ? [prefix] : []), ...issue.path.map(String)].join("."),
    message: issue.message,
  }));

/** The longest text about invalid fields, in characters. */
const MAX_FAULTS_LENGTH = 500;

/** Returns the paths and messages of invalid fields as one line for people. Paths are untrusted: keys of records are a part of them. */
export function faultsText(faults: readonly FieldFault[]): string {
  const texts = faults.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return cutTo(MAX_FAULTS_LENGTH, inOneLine(texts.join("; ")));
}

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
