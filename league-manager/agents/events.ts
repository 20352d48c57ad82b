import { z } from "zod";
import "#shared/lib/schema-messages.ts";
import { HistoryForm, Transports } from "#shared/protocol/message-fields.ts";
import type { DistributiveOmit } from "../league/commands.ts";

/** The format version of these events. Every event carries it as `v`. */
export const AGENT_FORMAT_VERSION = 1;

/** The stream of an agent's events. */
export const agentStream = (agentId: string): string => `agent:${agentId}`;

const id = z.string().min(1).max(200);
const commonFields = { v: z.literal(AGENT_FORMAT_VERSION), at: z.string() };
const matchFields = { league_id: id, match_id: id, epoch: z.int().min(1) };

/** The properties that an agent declares when it registers. */
const capabilityFields = {
  game_types: z.array(id).readonly(),
  legal_actions: z.boolean(),
  round_results: z.boolean(),
  /** Earlier versions stored it. It has no effect. */
  batch: z.boolean().optional(),
  announcements: z.boolean(),
  max_concurrent: z.int().min(0),
  dialect: z.string(),
  /** Absent for a player whose bot has no hash, for a referee, and in events of earlier versions. */
  bot_hash: z.string().max(100).optional(),
  /** Absent for a player that wants complete views, for a referee, and in events of earlier versions. */
  history: HistoryForm.optional(),
  /** Absent for an agent that is called by POST only, and in events of earlier versions. */
  transports: Transports.optional(),
  /** Absent for an agent without pages, and in events of earlier versions. */
  has_pages: z.boolean().optional(),
  /** Whether a person, or a model that calls tools, chooses the moves; absent for false. */
  by_hand: z.boolean().optional(),
};

/**
 * The events of one agent: its registration and its lifecycle (PROTOCOL.md, section 2). Names, addresses and tokens are rows of tables, never
 * events.
 */
export const AgentEvent = z.discriminatedUnion("type", [
  /** `name_commitment` is the SHA-256 of the salt, a newline and the display name. */
  z.strictObject({
    ...commonFields,
    type: z.literal("registered"),
    agent_id: id,
    kind: z.enum(["player", "referee"]),
    name_commitment: z.string(),
    ...capabilityFields,
  }),
  /** The agent has registered again with its token. */
  z.strictObject({ ...commonFields, type: z.literal("returned"), ...capabilityFields }),
  /** Another agent has the endpoint now. The player cannot be reached until it registers again. */
  z.strictObject({ ...commonFields, type: z.literal("endpoint_lost") }),
  z.strictObject({ ...commonFields, type: z.literal("token_reset") }),
  /** A league of the agent has started. */
  z.strictObject({ ...commonFields, type: z.literal("activated") }),
  /** The player lost a match because it did not answer in time. Three in a row shut it down. */
  z.strictObject({ ...commonFields, type: z.literal("timed_out"), ...matchFields }),
  /** The player finished a match after timeouts: its count of timeouts is 0 again. */
  z.strictObject({ ...commonFields, type: z.literal("answered"), ...matchFields }),
  /** A suspended player answered a health probe or registered again. */
  z.strictObject({ ...commonFields, type: z.literal("recovered"), by: z.enum(["health", "registration"]) }),
  /** A player whose leagues are over has entered another league, or a referee is registered when another league starts or runs. */
  z.strictObject({ ...commonFields, type: z.literal("renewed") }),
  /** All leagues of the agent are over, or it has left them. */
  z.strictObject({ ...commonFields, type: z.literal("dismissed") }),
  /** An operator has removed the player. */
  z.strictObject({ ...commonFields, type: z.literal("removed") }),
  /** An operator has forgotten a player that has played: its profile is erased, and its name is now its id. */
  z.strictObject({ ...commonFields, type: z.literal("erased") }),
  /**
   * The agent is no longer registered. Its id is not used again, except for the agent for which the config reserves it. `reason`: `removed` by an
   * operator; `absent`: a player without an endpoint, of which there are too many; `silent`: a referee that another referee replaced; `left`: at
   * its own request.
   */
  z.strictObject({
    ...commonFields,
    type: z.literal("forgotten"),
    reason: z.enum(["removed", "absent", "silent", "left"]).optional(),
  }),
]);
export type AgentEvent = Readonly<z.infer<typeof AgentEvent>>;

/** The types of events of an agent. */
export const AGENT_EVENT_TYPES: readonly AgentEvent["type"][] = AgentEvent.options.map(({ shape }) => shape.type.value);

/** Parses a stored event of an agent; throws on text that is not an event. */
export const parseAgentEvent = (body: string): AgentEvent => AgentEvent.parse(JSON.parse(body));

/** An event before it has a time and a format version. */
export type NewAgentEvent = DistributiveOmit<AgentEvent, "v" | "at">;
