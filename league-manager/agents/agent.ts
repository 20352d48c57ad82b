import type { AgentState } from "#shared/protocol/lifecycle.ts";

export type AgentKind = "player" | "referee";

/** The properties that an agent declares when it registers. */
export interface Capabilities {
  /** Games of this program, with or without version, in a fixed order. */
  readonly gameTypes: readonly string[];
  /** Whether MOVE_REQUEST carries the list of legal actions. */
  readonly wantsLegalActions: boolean;
  readonly wantsRoundResults: boolean;
  /** Whether one POST may carry several calls. */
  readonly takesBatches: boolean;
  /** Whether it receives announcements of rounds and standings. */
  readonly wantsAnnouncements: boolean;
  /** Matches that a referee plays at once; 0 for a player. */
  readonly maxConcurrent: number;
  readonly dialect: string;
}

/** The data of an agent that are rows of tables instead of events. */
export interface Profile {
  readonly name: string;
  /** Random; the commitment of the name is made with it. */
  readonly salt: string;
  /** Empty after another agent got the endpoint, until the player registers again. */
  readonly endpoint: string;
  /** SHA-256 of the token, lowercase hex: also the key of signatures to this agent. */
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
  /** Matches in a row lost by TIMEOUT. */
  readonly fails: number;
  /** When it last registered again with a change, ISO 8601; null if it never has. */
  readonly returnedAt: string | null;
}
