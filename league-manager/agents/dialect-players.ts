import { cutTo } from "#shared/lib/text.ts";
import { bareHost, isThisMachine, type MachineAddresses } from "#shared/protocol/addresses.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { Agent, Capabilities } from "./agent.ts";
import { hasListedEndpoint, type Place } from "./places.ts";

/**
 * How players of other dialects are identified. Such programs do not store their token, so the endpoint identifies them, together with the address from
 * which the registration comes. This is weaker than a token (docs/security.md). A native player is never identified in this way.
 */

/** The parts of a registration that identify a player of another dialect. */
interface DialectAttempt {
  readonly name: string;
  readonly endpoint: string | null;
  readonly capabilities: Pick<Capabilities, "dialect">;
  /** Whether the request comes from the address of its endpoint. */
  readonly isFromEndpoint: boolean;
  readonly machineAddresses: MachineAddresses;
}

/** Returns the player of another dialect that registers again: the one of `atEndpoint`, if the request comes from its address. null if there is none. */
export function dialectOwner(
  atEndpoint: ReadonlySet<Agent>,
  { capabilities, isFromEndpoint }: DialectAttempt,
): Agent | null {
  if (capabilities.dialect === NATIVE || !isFromEndpoint) return null;
  return [...atEndpoint].find(({ kind, dialect }) => kind === "player" && dialect !== NATIVE) ?? null;
}

/**
 * Returns L003 for a registration in a dialect that names an endpoint of the config and comes from another address. null for every other registration.
 * `listed` are the places whose endpoint the registration names.
 */
export function listedEndpointRejection(
  listed: readonly Place[],
  { capabilities, endpoint, isFromEndpoint, name }: DialectAttempt,
): ProtocolError | null {
  const [place] = listed;
  if (capabilities.dialect === NATIVE || isFromEndpoint || !place) return null;
  const message = `the config of the league lists the endpoint ${endpoint} for ${place.name}, and the registration does not come from its address`;
  return protocolError("L003", message, { display_name: name, endpoint });
}

/**
 * Returns the rejection of a registration that may come from another program than `player`, whose endpoint it names: several programs may share the
 * address, and the registration differs from the one of the player. The rejection applies if the program of the player still answers. null if the
 * registration counts as the return of the player in any case.
 */
export function otherProgramRejection(
  player: Agent,
  { name, endpoint, capabilities, machineAddresses }: DialectAttempt,
  places: readonly Place[],
  agents: readonly Agent[],
): ProtocolError | null {
  if (!sharesAddress(player, places, agents, machineAddresses)) return null;
  const details = { display_name: name, endpoint };
  if (hasListedEndpoint(places, player.id)) {
    const message = `a program answers at the endpoint ${endpoint}, which the config lists for ${player.name}: it takes part without a registration`;
    return protocolError("L003", message, details);
  }
  const isSameName = [name, nameWithPort(name, endpoint ?? "")].includes(player.name);
  if (isSameName && dialectId(capabilities) === dialectId(player)) return null;
  const message = `a program answers at the endpoint ${endpoint}, which is registered as ${player.name}: use another port, or that name and the dialect of that registration`;
  return protocolError("L003", message, details);
}

/** Whether the league knows another endpoint at the host of a player, or the host is the machine of the manager, so that other programs can have its address. */
function sharesAddress(
  player: Agent,
  places: readonly Place[],
  agents: readonly Agent[],
  machineAddresses: MachineAddresses,
): boolean {
  const host = hostOf(player.endpoint);
  if (host === null || isThisMachine(host, machineAddresses)) return true;
  const endpoints = [...agents, ...places].flatMap(({ id, endpoint }) => (id === player.id ? [] : [endpoint ?? ""]));
  return endpoints.some((endpoint) => hostOf(endpoint) === host);
}

function hostOf(endpoint: string): string | null {
  const url = URL.parse(endpoint);
  return url && bareHost(url);
}

/** The id of a dialect, without the form that follows it. */
const dialectId = ({ dialect }: Pick<Capabilities, "dialect">): string => dialect.split(":", 1)[0] ?? "";

/** The name of a player whose name is taken, which is common because programs are copied: it has the port of the endpoint. */
export const nameWithPort = (name: string, endpoint: string): string =>
  `${cutTo(90, name)} (${URL.parse(endpoint)?.port ?? ""})`;
