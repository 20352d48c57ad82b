import { lookup } from "node:dns/promises";
import { connect, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import type { Clock } from "#shared/lib/clock.ts";
import { bareHost, isAmong, isLoopback, type MachineAddresses, parseEndpoint } from "#shared/protocol/addresses.ts";

/** Interfaces of virtual machines, containers and tunnels: other machines usually cannot reach their addresses. */
const VIRTUAL = /^(docker|br-|veth|virbr|vmnet|vboxnet|vEthernet|utun|tun|tap|wg|zt|tailscale)/i;
/** Link-local addresses. An IPv6 one needs a zone, which a URL cannot contain. An IPv4 one means that no address was assigned. */
const LINK_LOCAL = /^(fe[89ab]|169\.254\.)/i;

/** Whether a server on this address listens on every address of this machine. */
export const isWildcard = (host: string): boolean => /^(0\.0\.0\.0|\[?::\]?)$/.test(host);

/** Returns the wildcard address for IPv6 and IPv4, or the one for IPv4 on a machine without IPv6. */
export const wildcardHost = (interfaces: Interfaces): string =>
  Object.values(interfaces).some((all) => all?.some(({ family }) => family === "IPv6")) ? "::" : "0.0.0.0";

/** Returns all addresses of the interfaces, loopback included. */
export const machineAddresses = (interfaces: Interfaces): MachineAddresses =>
  new Set(Object.values(interfaces).flatMap((all) => all?.map(({ address }) => address) ?? []));

/** Returns the addresses at which other machines may reach this one, the most likely first: IPv4 before IPv6, virtual interfaces last. */
export function ownAddresses(interfaces: Interfaces): readonly string[] {
  const usable = Object.entries(interfaces).flatMap(([name, all = []]) =>
    all.filter(({ internal, address }) => !internal && !LINK_LOCAL.test(address)).map((one) => ({ ...one, name })),
  );
  const rank = ({ name, family }: (typeof usable)[number]): number =>
    (VIRTUAL.test(name) ? 2 : 0) + (family === "IPv6" ? 1 : 0);
  return usable.sort((a, b) => rank(a) - rank(b)).map(({ address }) => address);
}

/** Returns `http://ADDRESS:PORT`, with brackets around an IPv6 address. */
export const httpUrl = (address: string, port: number): string =>
  `http://${isIP(address) === 6 ? `[${address}]` : address}:${port}`;

/** Returns the URLs at which other machines call a server on this address and port. A wildcard address stands for all addresses of this machine. */
export function urlsOf(host: string, port: number, interfaces: Interfaces): readonly string[] {
  const addresses = isWildcard(host) ? ownAddresses(interfaces) : [host];
  return (addresses.length > 0 ? addresses : ["127.0.0.1"]).map((address) => httpUrl(address, port));
}

/** Returns the URL at which programs on this machine call a server on this address and port. */
export const localUrl = (host: string, port: number): string => httpUrl(isWildcard(host) ? "127.0.0.1" : host, port);

/** Returns the default address of an agent's server: loopback if the manager is on loopback or null, otherwise the wildcard address. */
export const listenHostFor = (manager: string | null, interfaces: Interfaces): string =>
  manager === null || isLoopback(bareHost(new URL(manager))) ? "127.0.0.1" : wildcardHost(interfaces);

/**
 * Resolves with the address of this machine in a connection to the host of a URL, at which that host can reach this machine. Rejects if there is no
 * connection within `timeoutMs`.
 */
export function addressToward(url: string, timeoutMs: number, clock: Clock): Promise<string> {
  const target = new URL(url);
  const port = Number(target.port) || (target.protocol === "https:" ? 443 : 80);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: bareHost(target), port });
    const timeoutError = new Error(`no connection within ${timeoutMs} ms`);
    const cancelTimer = clock.after(timeoutMs, () => socket.destroy(timeoutError));
    socket.once("close", cancelTimer);
    socket.once("error", reject);
    socket.once("connect", () => {
      resolve((socket.localAddress ?? "").replace(/^::ffff:/i, ""));
      socket.destroy();
    });
  });
}

/** The longest time to wait for the addresses of a host name, and the time for which they are remembered. */
const LOOKUP_MS = 2_000;
const REMEMBERED_MS = 5_000;

/** Resolves with all addresses of a host name; with none if it is unknown or the resolver does not answer in time. */
type Resolve = (name: string) => Promise<readonly string[]>;

/** Creates a resolver of host names. A name has at most one lookup under way, because lookups that are not answered keep others waiting. */
export function nameResolver(clock: Clock): Resolve {
  const lookups = new Map<string, Promise<readonly string[]>>();
  return async (name) => {
    const known = lookups.get(name);
    const found = known ?? lookedUp(name);
    if (!known) {
      lookups.set(name, found);
      void found.then((addresses) => clock.after(addresses.length > 0 ? REMEMBERED_MS : 0, () => lookups.delete(name)));
    }
    const answered = new AbortController();
    const addresses = await Promise.race([found, clock.pause(LOOKUP_MS, answered.signal).then(() => [])]);
    answered.abort();
    return addresses;
  };
}

const lookedUp: Resolve = (name) =>
  lookup(name, { all: true }).then(
    (all) => all.map(({ address }) => address),
    () => [],
  );

/** Resolves with whether a request from `remoteAddress` comes from an address of the endpoint's host. False if the name of the host cannot be resolved. */
export async function comesFrom(
  endpoint: string,
  remoteAddress: string,
  machineAddresses: MachineAddresses,
  resolve: Resolve,
): Promise<boolean> {
  const url = parseEndpoint(endpoint);
  if (!url) return false;
  const host = bareHost(url);
  const addresses = isIP(host) !== 0 || isLoopback(host) ? [host] : await resolve(host);
  return isAmong(addresses, remoteAddress, machineAddresses);
}

/** The network interfaces of a machine by name, each with its addresses. */
export type Interfaces = ReturnType<typeof networkInterfaces>;

/** Returns the current interfaces of this machine. */
export const readInterfaces = (): Interfaces => networkInterfaces();

/**
 * Returns a function that returns the current interfaces of this machine. The system takes about 50 µs to list them, and many registrations may
 * arrive in one turn of the event loop, so the list is cached until the next turn.
 */
export function interfaceReader(clock: Pick<Clock, "defer">): () => Interfaces {
  let cached: Interfaces | null = null;
  return () => {
    if (cached === null) {
      cached = readInterfaces();
      clock.defer(() => {
        cached = null;
      });
    }
    return cached;
  };
}
