/** Returns the host of a URL, without the brackets of an IPv6 address. */
export const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");

/** Returns whether a host name or an IP address (without brackets) is loopback. */
export function isLoopback(host: string): boolean {
  return /^(localhost|::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/i.test(host);
}

/**
 * Returns the network to which the limits of a remote address apply: an IPv4 address itself, or the /64 prefix of an
 * IPv6 address, because one machine usually has all addresses of a /64.
 */
export function networkOf(remoteAddress: string): string {
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  if (!address.includes(":")) return address;
  const [head = "", tail = ""] = address.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail.split(":");
  const zeros = Array<string>(Math.max(0, 8 - first.length - last.length)).fill("0");
  const prefix = [...first, ...zeros, ...last].slice(0, 4);
  return `${prefix.map((group) => group.replace(/^0+(?=.)/, "").toLowerCase()).join(":")}::/64`;
}

/**
 * The addresses of this machine's network interfaces. They may change while a process runs, so callers pass the current
 * ones.
 */
export type MachineAddresses = ReadonlySet<string>;

/** Returns whether a host is loopback or the address of one of this machine's interfaces. */
export const isThisMachine = (host: string, machineAddresses: MachineAddresses): boolean =>
  isLoopback(host) || machineAddresses.has(host);

/**
 * Returns the network of an endpoint's host (see `networkOf`), or its host name. Returns null if the host is this
 * machine or the endpoint is not a URL.
 */
export function remoteNetworkOf(endpoint: string, machineAddresses: MachineAddresses): string | null {
  const url = URL.parse(endpoint);
  if (!url || isThisMachine(bareHost(url), machineAddresses)) return null;
  return networkOf(bareHost(url));
}

/** Returns the host of the endpoint that an agent announces. Returns an empty list if it announces none. */
export function hostsOf(endpoint: string | null | undefined): readonly string[] {
  const url = endpoint ? URL.parse(endpoint) : null;
  return url ? [bareHost(url)] : [];
}

/** Returns whether a text is the origin of a web page, as browsers send it. The origin `null` of files and sandboxed frames is none. */
export const isWebOrigin = (text: string): boolean => /^https?:/.test(text) && URL.parse(text)?.origin === text;

/** Parses an agent's endpoint. Returns null if it is not an http or https URL, or if it contains credentials. */
export function parseEndpoint(text: string): URL | null {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return null;
  return url;
}

/** Whether a text is an address such as `192.168.1.7:8000` or `league.example/mcp`, which lacks only `http://`. A name without a port, a dot or a path is none. */
export const isWithoutScheme = (text: string): boolean =>
  /^(\[[\da-f:]+\]|[\w-]+(\.[\w-]+)*)(:\d+)?(\/[\w./-]*)?$/i.test(text) &&
  /:\d+(\/|$)|\.[\w-]+(\/|$)/.test(text) &&
  parseEndpoint(`http://${text}`) !== null;

/** Endpoints that agents may announce although they register from another address. */
export interface AllowedContacts {
  /** Host names and addresses, with any port and path. */
  readonly hosts: readonly string[];
  /** URLs that are compared as a whole. */
  readonly endpoints: readonly string[];
}

/**
 * Returns whether an agent may announce an endpoint. Its host must be the address from which the agent registers,
 * loopback for callers on loopback, or allowed by the config (PROTOCOL.md, section 3). An agent can therefore not make
 * the league call a third party.
 */
export function mayContact(endpoint: URL, remoteAddress: string, allowed: AllowedContacts): boolean {
  const host = bareHost(endpoint);
  if (isLoopback(host)) return isLoopback(remoteAddress);
  if (host === remoteAddress.replace(/^::ffff:/, "") || allowed.hosts.includes(host)) return true;
  return allowed.endpoints.some((url) => URL.parse(url)?.href === endpoint.href);
}

/**
 * Returns whether a caller has one of the addresses of a host. All addresses of this machine count as one, because a
 * program may listen on one of them and call from another.
 */
export function isAmong(
  addresses: readonly string[],
  remoteAddress: string,
  machineAddresses: MachineAddresses,
): boolean {
  const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  const caller = plain(remoteAddress);
  const isLocal = isThisMachine(caller, machineAddresses);
  return addresses.some(
    (address) => plain(address) === caller || (isLocal && isThisMachine(plain(address), machineAddresses)),
  );
}

/** Returns whether an endpoint is at loopback, where only agents on this machine can call it. */
export function isOnLoopback(endpoint: string): boolean {
  const url = URL.parse(endpoint);
  return url !== null && isLoopback(bareHost(url));
}

/** Returns whether an endpoint is at loopback or at another address of this machine. */
export function isOnThisMachine(endpoint: string, machineAddresses: MachineAddresses): boolean {
  const url = URL.parse(endpoint);
  return url !== null && isThisMachine(bareHost(url), machineAddresses);
}

/**
 * Returns the same key for all spellings of one endpoint: host, port and path in lower case, without query, fragment
 * and trailing slash. All addresses of this machine have the same key, because a server may listen on all of them.
 */
export const endpointKey = (endpoint: string, machineAddresses: MachineAddresses): string =>
  endpointKeyOf(endpointParts(endpoint), machineAddresses);

/** The parts of an endpoint's key. The key changes with the addresses of this machine; the parts do not. */
export interface EndpointParts {
  /** The host; null for a text that is not a URL. */
  readonly host: string | null;
  /** Port and path, or the whole text if it is not a URL. */
  readonly portAndPath: string;
}

/** Returns the parts of an endpoint's key. */
export function endpointParts(endpoint: string): EndpointParts {
  const url = URL.parse(endpoint);
  if (!url) return { host: null, portAndPath: endpoint };
  const host = bareHost(url).replace(/\.$/, "");
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const path = decoded(url.pathname).toLowerCase().replace(/\/+/g, "/").replace(/\/$/, "");
  return { host, portAndPath: `${port}${path}` };
}

/** Returns the key of an endpoint from its parts. */
export const endpointKeyOf = ({ host, portAndPath }: EndpointParts, machineAddresses: MachineAddresses): string =>
  host === null ? portAndPath : `${isThisMachine(host, machineAddresses) ? "loopback" : host}:${portAndPath}`;

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
