import { err, ok, type Result } from "#shared/lib/result.ts";
import { endpointKey, type MachineAddresses, remoteNetworkOf } from "#shared/protocol/addresses.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { currentMatches } from "../league/league.ts";
import type { Agent } from "./agent.ts";
import type { AdmissionPolicy } from "./policy.ts";
import type { ManagerState } from "./state.ts";

/** Every referee is probed each second, so their number is limited: as many as the config may start. */
export const MOST_REFEREES = 99;
/** The limit of one remote network, so that one program cannot register all referees. */
export const MOST_REFEREES_OF_NETWORK = 33;

interface RefereeRequest {
  readonly id: string;
  readonly endpoint: string;
  readonly machineAddresses: MachineAddresses;
  readonly returning: Agent | null;
  /** Referees that answer no health probe, the one that has been silent for longest first. */
  readonly silent: readonly string[];
}

/**
 * Whether a referee may enter; the referee that it replaces, or null if there is room. A referee could invent the moves of a match, so a
 * league of known players has the referees that its config names.
 */
export function placeForReferee(
  state: ManagerState,
  policy: AdmissionPolicy,
  { id, endpoint, machineAddresses, returning, silent }: RefereeRequest,
): Result<Agent | null, ProtocolError> {
  const places = policy.places.filter((place) => place.kind === "referee");
  if (policy.startWhen === "roster") {
    if (places.some((place) => place.id === id)) return ok(null);
    return err(protocolError("L002", "this league has the referees of its config, and takes no other"));
  }
  const keyOf = (one: string): string => endpointKey(one, machineAddresses);
  const expected = new Set(places.flatMap((place) => (place.endpoint === null ? [] : [keyOf(place.endpoint)])));
  if (returning || expected.has(keyOf(endpoint))) return ok(null);
  const referees = [...state.agents.values()].filter(({ kind }) => kind === "referee");
  const network = remoteNetworkOf(endpoint, machineAddresses);
  const ofNetwork = (referee: Agent): boolean =>
    network !== null && remoteNetworkOf(referee.endpoint, machineAddresses) === network;
  const isNetworkFull = referees.filter(ofNetwork).length >= MOST_REFEREES_OF_NETWORK;
  if (!isNetworkFull && referees.length < MOST_REFEREES) return ok(null);
  // A new referee of a network that has its share replaces only a referee of that network.
  const mayReplace = (referee: Agent): boolean =>
    !expected.has(keyOf(referee.endpoint)) && (!isNetworkFull || ofNetwork(referee)) && !hasMatch(state, referee.id);
  const replaced = silent.map((one) => state.agents.get(one)).find((one) => one?.kind === "referee" && mayReplace(one));
  if (replaced) return ok(replaced);
  const registered = isNetworkFull
    ? `${MOST_REFEREES_OF_NETWORK} referees of your network`
    : `${MOST_REFEREES} referees`;
  return err(protocolError("L002", `${registered} are registered, and all of them answer`, {}, true));
}

/** Whether a match is assigned to a referee. Matches are assigned in current rounds only. */
const hasMatch = ({ leagues }: ManagerState, refereeId: string): boolean =>
  [...leagues.values()].some((league) =>
    currentMatches(league).some((match) => match.status === "assigned" && match.refereeId === refereeId),
  );
