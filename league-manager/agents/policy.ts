import type { AllowedContacts } from "#shared/protocol/addresses.ts";
import type { Place } from "./places.ts";

/** The rules of admission that the config and the way of starting determine. */
export interface AdmissionPolicy {
  readonly places: readonly Place[];
  /** `roster`: only the agents of the reserved places may register; `count`: any player may enter until the league is full. */
  readonly startWhen: "roster" | "count";
  /** The join code that a registration without an agent's token needs; null if none is needed. */
  readonly joinCode: string | null;
  readonly allowedContacts: AllowedContacts;
  /** SHA-256 of the operator's token. No agent may use it as its token, because the answer to a registration contains the agent's token. */
  readonly operatorTokenHash: string;
  /** `max_players` of the config by league id. */
  readonly maxPlayers: ReadonlyMap<string, number>;
}
