import "#shared/lib/schema-messages.ts";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { sha256Hex } from "#shared/lib/hash.ts";
import { err, invariant, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { type AgentState, MAX_FAILS, transition } from "#shared/protocol/lifecycle.ts";
import {
  HistoryForm,
  historyField,
  offersWebSocket,
  Transports,
  transportsField,
} from "#shared/protocol/message-fields.ts";
import { ANY_GAME } from "#shared/protocol/messages.ts";
import type { DistributiveOmit, League } from "../league/league.ts";

export type AgentKind = "player" | "referee";

/** The properties that an agent declares when it registers. */
export interface Capabilities {
  /** The games that the agent plays, with or without version, in the order of the registry. */
  readonly gameTypes: readonly string[];
  /** Whether MOVE_REQUEST carries the list of legal actions. */
  readonly wantsLegalActions: boolean;
  readonly wantsRoundResults: boolean;
  /** Whether requests to the player leave out the part of the history in its views that it has received. */
  readonly wantsDeltaViews: boolean;
  /** Whether announcements of rounds and standings are sent to the agent. */
  readonly wantsAnnouncements: boolean;
  /** The maximum number of matches that a referee has at the same time; 0 for a player. */
  readonly maxConcurrent: number;
  readonly dialect: string;
  /** Identifies the version of a player's bot; null if the player has not sent it. */
  readonly botHash: string | null;
  /** Whether the agent can be called over a WebSocket. */
  readonly offersWebSocket: boolean;
  /** Whether people can open pages of a referee at the origin of its endpoint. */
  readonly hasPages: boolean;
  /** Whether a person, or a model that calls tools, chooses the moves of a player. */
  readonly isPlayedByHand: boolean;
}

/** The data of an agent that are rows of tables instead of events. */
export interface Profile {
  readonly name: string;
  /** A random text that is hashed with the name in the commitment to it. */
  readonly salt: string;
  /** Empty after another agent got the endpoint, until the player registers again. */
  readonly endpoint: string;
  /** SHA-256 of the token, lowercase hex. It is also the key of the signatures of messages to this agent. */
  readonly tokenHash: string;
}

/** A registered agent: the fold of its events, and its profile. Never changed in place. */
export interface Agent extends Capabilities, Profile {
  readonly id: string;
  readonly kind: AgentKind;
  readonly version: number;
  readonly state: AgentState;
  /** Whether an operator shut it down. */
  readonly isRemoved: boolean;
  /** The number of consecutive matches that it has lost by timeout. */
  readonly fails: number;
  /** The time of the last registration that changed it, ISO 8601; null without such a registration. */
  readonly returnedAt: string | null;
}

/** The state that the manager's commands depend on: the folds of all its streams. Never changed in place. */
export interface ManagerState {
  /** The leagues by id: those of the config in its order, then those that were opened like them, in the order of their opening. */
  readonly leagues: ReadonlyMap<string, League>;
  /** The registered agents by id, without forgotten ones. */
  readonly agents: ReadonlyMap<string, Agent>;
  /** The highest number among the ids of forgotten agents, by kind: new ids have higher numbers, so that no id is used twice. */
  readonly lastForgotten: Readonly<Record<Agent["kind"], number>>;
  /**
   * Leagues of the log that the config does not list, and that were not opened like one that it lists. Their players stay registered, because the log
   * names them. An unfinished league continues when the config lists it again.
   */
  readonly formerLeagues: readonly Pick<League, "leagueId" | "entrants" | "status">[];
}

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

/**
 * Returns the agent after an event, or null after `forgotten`. `profile` is the agent's row after the writes of the same decision. `version` is the
 * version of its stream after the event: an id that the config reserves is registered again in the same stream. Throws if the event cannot follow
 * the earlier events. This never depends on the profile, because old events are read with the newest profile.
 */
export function evolveAgent(
  agent: Agent | null,
  event: AgentEvent,
  profile: Profile,
  version: number = (agent?.version ?? 0) + 1,
): Agent | null {
  if (event.type === "registered") {
    invariant(agent === null, `${event.agent_id} is registered once`);
    const { agent_id: id, kind } = event;
    const state = stateAfter("INIT", "register_success");
    const initial = { isRemoved: false, fails: 0, returnedAt: null };
    return { id, kind, state, ...initial, ...capabilitiesOf(event), ...rowOf(profile), version };
  }
  invariant(agent !== null, `${event.type} follows the registration of an agent`);
  if (event.type === "forgotten") return null;
  return { ...agent, ...changesOf(agent, event), ...rowOf(profile), version };
}

function changesOf(agent: Agent, event: Exclude<AgentEvent, { type: "registered" | "forgotten" }>): Partial<Agent> {
  switch (event.type) {
    case "returned":
      return { ...capabilitiesOf(event), returnedAt: event.at };
    case "endpoint_lost":
    case "token_reset":
    case "erased":
      return {}; // the profile has changed
    case "activated":
      return { state: stateAfter(agent.state, "league_start") };
    case "timed_out":
      return afterTimeout(agent);
    case "answered":
      invariant(agent.fails > 0 && agent.state !== "SHUTDOWN", `${agent.id} has a timeout before an answer clears it`);
      return { fails: 0, state: agent.state === "SUSPENDED" ? stateAfter(agent.state, "recover") : agent.state };
    case "recovered":
      return { state: stateAfter(agent.state, "recover") };
    case "renewed":
      invariant(agent.state === "SHUTDOWN", `${agent.id} is shut down before it is renewed`);
      return { fails: 0, isRemoved: false, state: stateAfter("INIT", "register_success") };
    case "dismissed":
      return { state: stateAfter(agent.state, "league_end") };
    case "removed":
      return { isRemoved: true, state: stateAfter(agent.state, "league_end") };
  }
}

/** A timeout suspends the player. The third in a row shuts it down. */
function afterTimeout({ state, fails }: Agent): Partial<Agent> {
  const suspended = state === "SUSPENDED" ? state : stateAfter(state, "timeout");
  const isLast = fails + 1 >= MAX_FAILS;
  return { fails: fails + 1, state: isLast ? stateAfter(suspended, "max_fails") : suspended };
}

function stateAfter(state: AgentState, trigger: Parameters<typeof transition>[1]): AgentState {
  const next = transition(state, trigger);
  invariant(next.ok, next.ok ? "" : next.error);
  return next.value;
}

/** Only the fields of the profile: the argument may be an agent. */
const rowOf = ({ name, salt, endpoint, tokenHash }: Profile): Profile => ({ name, salt, endpoint, tokenHash });

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

type CapabilityFields = Pick<
  Extract<AgentEvent, { type: "returned" }>,
  | "game_types"
  | "legal_actions"
  | "round_results"
  | "announcements"
  | "max_concurrent"
  | "dialect"
  | "bot_hash"
  | "history"
  | "transports"
  | "has_pages"
  | "by_hand"
>;

/** Capabilities as the fields of an event. */
export const fieldsOf = (capabilities: Capabilities): CapabilityFields => ({
  game_types: capabilities.gameTypes,
  legal_actions: capabilities.wantsLegalActions,
  round_results: capabilities.wantsRoundResults,
  announcements: capabilities.wantsAnnouncements,
  max_concurrent: capabilities.maxConcurrent,
  dialect: capabilities.dialect,
  ...(capabilities.botHash !== null && { bot_hash: capabilities.botHash }),
  ...historyField(capabilities.wantsDeltaViews),
  ...transportsField(capabilities.offersWebSocket),
  ...(capabilities.hasPages && { has_pages: true }),
  ...(capabilities.isPlayedByHand && { by_hand: true }),
});

/** The capabilities that an event carries. */
export const capabilitiesOf = (fields: CapabilityFields): Capabilities => ({
  gameTypes: fields.game_types,
  wantsLegalActions: fields.legal_actions,
  wantsRoundResults: fields.round_results,
  wantsAnnouncements: fields.announcements,
  maxConcurrent: fields.max_concurrent,
  dialect: fields.dialect,
  botHash: fields.bot_hash ?? null,
  wantsDeltaViews: fields.history === "delta",
  offersWebSocket: offersWebSocket(fields.transports),
  hasPages: fields.has_pages ?? false,
  isPlayedByHand: fields.by_hand ?? false,
});

/** Whether an agent names a game in its game types, with or without version. */
const namesGame = ({ gameTypes }: Pick<Agent, "gameTypes">, game: string): boolean =>
  gameTypes.some((type) => type === game || game.startsWith(`${type}.`));

/** Whether a player plays a game. */
export const playsGame = (player: Pick<Agent, "gameTypes">, game: string): boolean =>
  player.gameTypes.includes(ANY_GAME) || namesGame(player, game);

/** Whether MOVE_REQUEST lists the legal actions of a game for a player. A player that does not name the game may not know its rules. */
export const needsLegalActions = (player: Pick<Agent, "gameTypes" | "wantsLegalActions">, game: string): boolean =>
  player.wantsLegalActions || !namesGame(player, game);

/**
 * The endpoint of a player that cannot be called, in its profile. It is not the URL of its inbox, because the manager may have another address after
 * a restart, and each referee may reach the manager at another one.
 */
const INBOX_SCHEME = "inbox://";

/** Follows the id in the endpoint of a player whose inbox the manager itself reads. */
const HOSTED_SUFFIX = "/hosted";

/** Returns the endpoint of a player with an inbox. `isHosted`: a person or a model, whose inbox the manager itself reads. */
export const inboxEndpoint = (playerId: string, isHosted: boolean): string =>
  `${INBOX_SCHEME}${playerId}${isHosted ? HOSTED_SUFFIX : ""}`;

/** Whether an endpoint is that of a hosted player. */
export const isHosted = (endpoint: string): boolean =>
  endpoint.startsWith(INBOX_SCHEME) && endpoint.endsWith(HOSTED_SUFFIX);

/** Returns the id of the player whose inbox an endpoint, or a URL below it, denotes; null for any other endpoint. */
export function inboxOwnerOf(endpoint: string): string | null {
  return endpoint.startsWith(INBOX_SCHEME) ? (endpoint.slice(INBOX_SCHEME.length).split("/", 1)[0] ?? "") : null;
}
