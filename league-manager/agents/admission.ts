import { compareIds } from "#shared/lib/ids.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { Agent } from "./agent.ts";
import { entriesFor, isInSomeLeague } from "./entries.ts";
import { type Admitted, type Attempt, identify, type Presence, type PresenceCheck } from "./identity.ts";
import type { AdmissionPolicy } from "./policy.ts";
import { placeForReferee } from "./referee-places.ts";
import type { ManagerState } from "./state.ts";

interface PlayerAttempt extends Attempt {
  /** The ids of the requested leagues; null for every open league of its games. */
  readonly leagueIds: readonly string[] | null;
  /** What is known of the players at the endpoint. Those that have left lose it if the new player is admitted. */
  readonly presence: Presence;
}
interface RefereeAttempt extends Attempt {
  readonly endpoint: string;
  /** Ids of the referees that do not answer health probes, the longest silence first. */
  readonly silent: readonly string[];
}

export interface AdmittedPlayer extends Admitted {
  /** The leagues of the player after the registration. */
  readonly leagueIds: readonly string[];
  /** Players whose endpoint the new player gets. They leave their open leagues. */
  readonly displaced: readonly Agent[];
  /** Players with neither an endpoint nor a league that are forgotten, because there are more than `MAX_ABSENT_PLAYERS`. */
  readonly forgotten: readonly Agent[];
}
interface AdmittedReferee extends Admitted {
  /** The silent referee that the new referee replaces; null if the number of referees is below the limit. */
  readonly replaced: Agent | null;
}

/** The maximum number of registered players that have neither an endpoint nor a league. */
export const MAX_ABSENT_PLAYERS = 500;

/** Decides whether a player may register, and determines its id and its leagues. */
export function admitPlayer(
  state: ManagerState,
  policy: AdmissionPolicy,
  attempt: PlayerAttempt,
): Result<AdmittedPlayer | PresenceCheck, ProtocolError> {
  const identified = identify(state, policy, "player", attempt, attempt.presence);
  if (!identified.ok || identified.value.type === "presence_check")
    return identified as Result<PresenceCheck, ProtocolError>;
  const { displaced, ...admitted } = identified.value;
  const { id } = admitted;
  const leagueIds = entriesFor(state, policy, { ...attempt, ...admitted, displaced });
  if (!leagueIds.ok) return leagueIds;
  return ok({ ...admitted, leagueIds: leagueIds.value, displaced, forgotten: tooManyAbsent(state, id, displaced) });
}

/** Decides whether a referee may register, and determines its id and the referee that it replaces. */
export function admitReferee(
  state: ManagerState,
  policy: AdmissionPolicy,
  attempt: RefereeAttempt,
): Result<AdmittedReferee, ProtocolError> {
  const identified = identify(state, policy, "referee", attempt, { departed: new Set(), present: new Set() });
  if (!identified.ok) return identified;
  if (identified.value.type === "presence_check") throw new Error("only players cause a presence check");
  const { displaced: _, ...admitted } = identified.value;
  const replaced = placeForReferee(state, policy, { ...attempt, ...admitted });
  return replaced.ok ? ok({ ...admitted, replaced: replaced.value }) : replaced;
}

/**
 * Returns the absent players that exceed `MAX_ABSENT_PLAYERS` when `present` is registered, lowest ids first. Without the limit, any number of names
 * could be registered with one endpoint.
 */
function tooManyAbsent(state: ManagerState, present: string, displaced: readonly Agent[]): readonly Agent[] {
  if (displaced.length === 0) return [];
  const absent = [...state.agents.values()].filter(
    (agent) =>
      agent.kind === "player" && agent.id !== present && agent.endpoint === "" && !isInSomeLeague(state, agent.id),
  );
  const excess = absent.length + displaced.length - MAX_ABSENT_PLAYERS;
  return excess <= 0 ? [] : absent.sort((a, b) => compareIds(a.id, b.id)).slice(0, excess);
}
