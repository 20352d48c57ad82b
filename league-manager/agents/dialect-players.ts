import { cutTo } from "#shared/lib/text.ts";
import { bareHost, isThisMachine, type MachineAddresses, parseEndpoint } from "#shared/protocol/addresses.ts";
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
  readonly remoteAddress: string;
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
 * Returns L003 for a registration in a dialect that does not come from the address of its endpoint, if the endpoint belongs to a player of another
 * dialect or to one that the config lists. null for every other registration. `listed` are the places whose endpoint the registration names.
 */
export function otherAddressRejection(
  { capabilities, endpoint, isFromEndpoint, name, remoteAddress }: DialectAttempt,
  atEndpoint: ReadonlySet<Agent>,
  listed: readonly Place[],
): ProtocolError | null {
  if (capabilities.dialect === NATIVE || isFromEndpoint) return null;
  const registered = [...atEndpoint].find(({ dialect }) => dialect !== NATIVE);
  const owner = listed[0]?.name ?? registered?.name;
  if (owner === undefined) return null;
  const message = `the endpoint ${endpoint} belongs to ${owner}, and this registration comes from another address (${remoteAddress}): register from the address of the endpoint, or ask the operator to remove ${owner}`;
  return protocolError("L003", message, { display_name: name, endpoint });
}

/**
 * Returns the rejection of a registration that names the endpoint of `player` and differs from the registration of that player. It applies if the program
 * of the player still answers. null if the name and the dialect are those of the player, so that its running program may have sent it.
 */
export function otherProgramRejection(
  player: Agent,
  { name, endpoint, capabilities }: DialectAttempt,
  places: readonly Place[],
): ProtocolError | null {
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

/**
 * Whether other programs can have the address of a player: its host is the machine of the manager, or may be the same as the host of another endpoint
 * that the league knows.
 */
export function sharesAddress(
  player: Agent,
  places: readonly Place[],
  agents: readonly Agent[],
  machineAddresses: MachineAddresses,
): boolean {
  const host = hostOf(player.endpoint);
  if (host === null || isThisMachine(host, machineAddresses)) return true;
  const hosts = [...agents, ...places].flatMap(({ id, endpoint }) =>
    id === player.id ? [] : [hostOf(endpoint ?? "")],
  );
  return hosts.some((other) => other !== null && mayBeSame(host, other));
}

/** Whether two hosts may be one machine: they are equal, or they are not both IPv4 addresses or both IPv6 addresses. */
function mayBeSame(one: string, other: string): boolean {
  const areBoth = (form: RegExp): boolean => form.test(one) && form.test(other);
  return one === other || !(areBoth(/^\d+(\.\d+){3}$/) || areBoth(/:/));
}

/** Returns the host of an endpoint; null for the endpoint of a player with an inbox. */
function hostOf(endpoint: string): string | null {
  const url = parseEndpoint(endpoint);
  return url && bareHost(url);
}

/** The id of a dialect, without the form that follows it. */
const dialectId = ({ dialect }: Pick<Capabilities, "dialect">): string => dialect.split(":", 1)[0] ?? "";

/** The name of a player whose name is taken, which is common because programs are copied: it has the port of the endpoint. */
export const nameWithPort = (name: string, endpoint: string): string =>
  `${cutTo(90, name)} (${URL.parse(endpoint)?.port ?? ""})`;
