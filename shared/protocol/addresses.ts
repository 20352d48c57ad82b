/** The host of a URL without an IPv6 address's brackets. */
export const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");

/** Whether a host name or IP address (without brackets) means this machine itself. */
export function isLoopback(host: string): boolean {
  return /^(localhost|::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/i.test(host);
}

/**
 * The network that a remote address counts as for limits: an IPv4 address itself; of an IPv6 address its /64 prefix, because one
 * machine usually holds all addresses of a /64.
 */
export function networkOf(remoteAddress: string): string {
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail ? tail.split(":") : [];
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - first.length - last.length)).fill("0");
  const prefix = [...first, ...zeros, ...last].slice(0, 4);
  return `${prefix.map((group) => group.replace(/^0+(?=.)/, "").toLowerCase()).join(":")}::/64`;
}

/** The addresses of this machine's network interfaces. They may change while a process runs, so callers pass the present ones. */
export type MachineAddresses = ReadonlySet<string>;

/** Whether a host is loopback or the address of one of this machine's interfaces. */
export const isThisMachine = (host: string, machineAddresses: MachineAddresses): boolean =>
  isLoopback(host) || machineAddresses.has(host);

/** The network at which an endpoint is reached: an address's network or a host name; null for one on this machine. */
export function remoteNetworkOf(endpoint: string, machineAddresses: MachineAddresses): string | null {
  const url = URL.parse(endpoint);
  if (!url || isThisMachine(bareHost(url), machineAddresses)) return null;
  return networkOf(bareHost(url));
}

/** The host by which an agent says that it is reached; none for one that is reached where it listens. */
export function hostsOf(endpoint: string | null | undefined): readonly string[] {
  const url = endpoint ? URL.parse(endpoint) : null;
  return url ? [bareHost(url)] : [];
}

/** The URL of an agent's endpoint, or null for anything but a plain http(s) URL without credentials. */
export function parseEndpoint(text: string): URL | null {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return null;
  return url;
}

/** Where agents may be reached although they register from another address. */
export interface AllowedContacts {
  /** Host names and addresses, on any port and path. */
  readonly hosts: readonly string[];
  /** URLs that allow nothing but themselves. */
  readonly endpoints: readonly string[];
}

/**
 * Whether an agent may give this endpoint as its own: the address that it registers from, loopback for callers on loopback
 * only, or what the config allows (PROTOCOL.md, section 3), so that no agent makes the league call a third party.
 */
export function mayContact(endpoint: URL, remoteAddress: string, allowed: AllowedContacts): boolean {
  const host = bareHost(endpoint);
  if (isLoopback(host)) return isLoopback(remoteAddress);
  if (host === remoteAddress.replace(/^::ffff:/, "") || allowed.hosts.includes(host)) return true;
  return allowed.endpoints.some((one) => URL.parse(one)?.href === endpoint.href);
}

/** Whether an endpoint is at loopback: only agents on this machine can call it. */
export function isOnLoopback(endpoint: string): boolean {
  const url = URL.parse(endpoint);
  return url !== null && isLoopback(bareHost(url));
}

/** Whether an endpoint is at loopback or at another address of this machine. */
export function isOnThisMachine(endpoint: string, machineAddresses: MachineAddresses): boolean {
  const url = URL.parse(endpoint);
  return url !== null && isThisMachine(bareHost(url), machineAddresses);
}

/**
 * The same text for every spelling of one endpoint: host, port and path in lower case, without query, fragment and trailing slash.
 * All addresses of this machine are one, since a server may listen on all of them.
 */
export const endpointKey = (endpoint: string, machineAddresses: MachineAddresses): string =>
  endpointKeyOf(endpointParts(endpoint), machineAddresses);

/** The parts of an endpoint's key. The key changes with the addresses of this machineAddresses, its parts do not. */
export interface EndpointParts {
  /** Null for a text that is no URL. */
  readonly host: string | null;
  /** Port and path; a text that is no URL as it is. */
  readonly place: string;
}

export function endpointParts(endpoint: string): EndpointParts {
  const url = URL.parse(endpoint);
  if (!url) return { host: null, place: endpoint };
  const host = bareHost(url).replace(/\.$/, "");
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const path = decoded(url.pathname).toLowerCase().replace(/\/+/g, "/").replace(/\/$/, "");
  return { host, place: `${port}${path}` };
}

export const endpointKeyOf = ({ host, place }: EndpointParts, machineAddresses: MachineAddresses): string =>
  host === null ? place : `${isThisMachine(host, machineAddresses) ? "loopback" : host}:${place}`;

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
