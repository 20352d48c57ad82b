import { err, ok, type Result } from "#shared/lib/result.ts";
import { endpointKey, type MachineAddresses, remoteNetworkOf } from "#shared/protocol/addresses.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { currentMatches } from "../league/league.ts";
import type { Agent } from "./agent.ts";
import type { AdmissionPolicy } from "./policy.ts";
import type { ManagerState } from "./state.ts";

/** The maximum number of referees of a manager, which probes each of them every second. A config has the same limit. */
export const MAX_REFEREES = 99;
/** The maximum number of referees of one remote network, so that one program cannot register all referees. */
export const MAX_REFEREES_OF_NETWORK = 33;

interface RefereeRequest {
  readonly id: string;
  readonly endpoint: string;
  readonly machineAddresses: MachineAddresses;
  readonly returning: Agent | null;
  /** Ids of the referees that do not answer health probes, the longest silence first. */
  readonly silent: readonly string[];
}

/**
 * Decides whether a referee may register. Returns the silent referee that it replaces, or null if the number of referees is below the limit. A referee
 * could invent the moves of a match, so a league with a roster accepts only the referees of its config.
 */
export function placeForReferee(
  state: ManagerState,
  policy: AdmissionPolicy,
  { id, endpoint, machineAddresses, returning, silent }: RefereeRequest,
): Result<Agent | null, ProtocolError> {
  const places = policy.places.filter((place) => place.kind === "referee");
  if (policy.startWhen === "roster") {
    if (places.some((place) => place.id === id)) return ok(null);
    return err(protocolError("L002", "the league accepts only the referees of its config"));
  }
  const keyOf = (url: string): string => endpointKey(url, machineAddresses);
  const expected = new Set(places.flatMap((place) => (place.endpoint === null ? [] : [keyOf(place.endpoint)])));
  if (returning || expected.has(keyOf(endpoint))) return ok(null);
  const referees = [...state.agents.values()].filter(({ kind }) => kind === "referee");
  const network = remoteNetworkOf(endpoint, machineAddresses);
  const isOfNetwork = (referee: Agent): boolean =>
    network !== null && remoteNetworkOf(referee.endpoint, machineAddresses) === network;
  const isNetworkFull = referees.filter(isOfNetwork).length >= MAX_REFEREES_OF_NETWORK;
  if (!isNetworkFull && referees.length < MAX_REFEREES) return ok(null);
  // If its network is full, a new referee replaces only a referee of that network.
  const mayReplace = (referee: Agent): boolean =>
    !expected.has(keyOf(referee.endpoint)) && (!isNetworkFull || isOfNetwork(referee)) && !hasMatch(state, referee.id);
  const replaced = silent
    .map((silentId) => state.agents.get(silentId))
    .find((agent) => agent?.kind === "referee" && mayReplace(agent));
  if (replaced) return ok(replaced);
  const registered = isNetworkFull ? `${MAX_REFEREES_OF_NETWORK} referees of your network` : `${MAX_REFEREES} referees`;
  return err(protocolError("L002", `${registered} are registered, and all of them answer`, {}, true));
}

/** Whether a match is assigned to a referee. Matches are assigned in current rounds only. */
const hasMatch = ({ leagues }: ManagerState, refereeId: string): boolean =>
  [...leagues.values()].some((league) =>
    currentMatches(league).some((match) => match.status === "assigned" && match.refereeId === refereeId),
  );
