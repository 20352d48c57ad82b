import type { AllowedContacts } from "#shared/protocol/addresses.ts";
import type { Place } from "./places.ts";

/** The rules of admission that the config and the way of starting determine. */
export interface AdmissionPolicy {
  readonly places: readonly Place[];
  /** `roster`: the leagues are for the agents of the kept places; `count`: any player may enter until the league is full. */
  readonly startWhen: "roster" | "count";
  /** The join code that a registration without an agent's token needs; null if none is needed. */
  readonly joinCode: string | null;
  readonly allowedContacts: AllowedContacts;
  /** SHA-256 of the operator's token. No agent may have it, because an agent's token is part of the answer to its registration. */
  readonly operatorTokenHash: string;
  /** `max_players` of the config by league id. */
  readonly maxPlayers: ReadonlyMap<string, number>;
}
