import type { AgentState } from "#shared/protocol/lifecycle.ts";

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
