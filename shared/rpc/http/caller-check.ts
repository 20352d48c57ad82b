import type { IncomingMessage } from "node:http";
import { hostname } from "node:os";
import { bareHost, isLoopback, isThisMachine, type MachineAddresses } from "../../protocol/addresses.ts";

interface OwnNames {
  /** The address or name that the server is bound to. */
  readonly host: string;
  /** Further names that are accepted in the Host header, and in the Origin of pages; lower case. */
  readonly allowedHosts: readonly string[];
  /** Returns the present addresses of this machine, which a server that is not bound to loopback accepts as host names. */
  readonly machineAddresses: () => MachineAddresses;
}

/** The reason why a request is rejected before its body is read. */
interface CallerFault {
  readonly status: 403 | 415;
  readonly message: string;
}

/** The maximum number of accepted Host headers that are remembered. A caller repeats its Host header with every request. */
const MAX_KNOWN = 1_000;
const SHOWN_CHARACTERS = 100;
/** Methods whose requests have no body. */
const BODILESS = new Set(["GET", "HEAD", "DELETE", "OPTIONS"]);

/**
 * Returns a check that protects an endpoint from web pages in the browsers of users. The Host header must name this server, because a page
 * may rebind the name of another server to its address. An Origin must be the same host or an allowed one, and its request must be JSON,
 * which a browser sends to another origin only after a preflight request. Programs other than browsers send no Origin.
 */
export function callerCheck(own: OwnNames): (request: IncomingMessage) => CallerFault | null {
  const { host: bound, allowedHosts, machineAddresses } = own;
  const known = new Set<string>();
  const isOpen = !isLoopback(bound);
  const isOwn = (name: string, localAddress: string): boolean =>
    isLoopback(name) ||
    name === bound ||
    allowedHosts.includes(name) ||
    (isOpen && (name === localAddress || isThisMachine(name, machineAddresses()) || isHostname(name)));

  const isOwnHost = (host: string, localAddress: string): boolean => {
    if (known.has(host)) return true;
    const url = URL.parse(`http://${host}`);
    if (url === null || !isOwn(bareHost(url).replace(/\.$/, ""), localAddress)) return false;
    if (known.size >= MAX_KNOWN) known.clear();
    known.add(host);
    return true;
  };

  const isOwnOrigin = (origin: string, host: string): boolean => {
    const url = URL.parse(origin);
    if (url === null || !/^https?:$/.test(url.protocol)) return false;
    // Behind a proxy that terminates TLS the Origin is https. Default ports are in neither header.
    return url.host === URL.parse(`${url.protocol}//${host}`)?.host || allowedHosts.includes(bareHost(url));
  };

  return ({ method = "", headers, socket }) => {
    const { host = "", origin } = headers;
    if (!isOwnHost(host, (socket.localAddress ?? "").replace(/^::ffff:/, ""))) {
      const how = "add it to allowed_hosts in the config, or give the agent its --endpoint";
      return forbidden(`Host ${shown(host)} is not an address or name of this server: ${how}`);
    }
    if (origin === undefined) return null;
    if (!isOwnOrigin(origin, host)) {
      return forbidden(`Origin ${shown(origin)} is neither the Host ${shown(host)} nor allowed by the config`);
    }
    if (BODILESS.has(method) || isJson(headers["content-type"])) return null;
    return { status: 415, message: "Unsupported media type: a request with an Origin must send application/json" };
  };
}

export const isJson = (contentType: string | undefined): boolean =>
  /^application\/json\s*(;|$)/i.test(contentType ?? "");

/** Whether a name is the host name of this machine in its network. */
function isHostname(name: string): boolean {
  const full = hostname().toLowerCase();
  const [short = ""] = full.split(".");
  return name === full || name === short || name === `${short}.local`;
}

const forbidden = (message: string): CallerFault => ({ status: 403, message: `Forbidden: ${message}` });

const shown = (text: string): string => JSON.stringify(text.slice(0, SHOWN_CHARACTERS));
