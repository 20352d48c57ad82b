import type { IncomingMessage, ServerResponse } from "node:http";
import { hostname } from "node:os";
import { bareHost, isLoopback, isThisMachine, type MachineAddresses } from "#shared/protocol/addresses.ts";
import { BODILESS, setCrossOrigin } from "./request.ts";

/** The names and addresses by which a server may be called. */
interface ServerNames {
  /** The address or name that the server is bound to. */
  readonly host: string;
  /** Additional host names in lower case by which it may be called, and whose pages may call it. */
  readonly allowedHosts: readonly string[];
  /** The origins of other sites whose pages may call `/mcp`. */
  readonly allowedOrigins: readonly string[];
  /** Returns the current addresses of this machine, by which a server may be called unless it is bound to loopback. */
  readonly machineAddresses: () => MachineAddresses;
}

/** The reason why a request is rejected before its body is read. */
interface CallerFault {
  readonly status: 403 | 415;
  readonly message: string;
}

/** The decision on a request before its body is read. */
interface CallerVerdict {
  /** null for an accepted request. */
  readonly fault: CallerFault | null;
  /** The allowed origin of another site whose page sends the request; null for any other request. */
  readonly crossOrigin: string | null;
}

/** The largest number of cached Host headers that name this server. Callers repeat the same header in every request. */
const MAX_KNOWN_HOSTS = 1_000;
/** The longest part of a header in an error message, in characters. */
const SHOWN_CHARACTERS = 100;

const ACCEPTED: CallerVerdict = { fault: null, crossOrigin: null };

/**
 * Returns a function that protects a server from the web pages in the browser of a user. `mayCross` is true for the requests that pages of the
 * allowed origins may send:
 * - The Host header must name this server, because another name may have been rebound to its address (DNS rebinding).
 * - An Origin must be the same host or an allowed host, or an allowed origin if `mayCross` is true.
 * - A request with an Origin and a body must be JSON, which browsers send to another origin only after a preflight request.
 * Programs other than browsers send no Origin.
 */
export function callerCheck(names: ServerNames): (request: IncomingMessage, mayCross: boolean) => CallerVerdict {
  const { host: boundHost, allowedHosts, allowedOrigins, machineAddresses } = names;
  const knownHosts = new Set<string>();
  const isOnNetwork = !isLoopback(boundHost);
  const isOwnName = (name: string, localAddress: string): boolean =>
    isLoopback(name) ||
    name === boundHost ||
    allowedHosts.includes(name) ||
    (isOnNetwork && (name === localAddress || isThisMachine(name, machineAddresses()) || isHostname(name)));

  const isOwnHost = (host: string, localAddress: string): boolean => {
    if (knownHosts.has(host)) return true;
    const url = URL.parse(`http://${host}`);
    if (url === null || !isOwnName(bareHost(url).replace(/\.$/, ""), localAddress)) return false;
    if (knownHosts.size >= MAX_KNOWN_HOSTS) knownHosts.clear();
    knownHosts.add(host);
    return true;
  };

  const isOwnOrigin = (origin: string, host: string): boolean => {
    const url = URL.parse(origin);
    if (url === null || !/^https?:$/.test(url.protocol)) return false;
    // The Host is parsed with the scheme of the Origin, because the Origin is https behind a proxy that ends TLS. The default port of a scheme is omitted.
    return url.host === URL.parse(`${url.protocol}//${host}`)?.host || allowedHosts.includes(bareHost(url));
  };

  return ({ method = "", headers, socket }, mayCross) => {
    const { host = "", origin } = headers;
    if (!isOwnHost(host, (socket.localAddress ?? "").replace(/^::ffff:/, ""))) {
      const advice = "add it to allowed_hosts in the config, or start the agent with --endpoint";
      return forbidden(`Host ${shown(host)} is not an address or name of this server: ${advice}`);
    }
    if (origin === undefined) return ACCEPTED;
    const isOwn = isOwnOrigin(origin, host);
    if (!isOwn && !(mayCross && allowedOrigins.includes(origin))) {
      const fields = mayCross ? "allowed_origins (--allowed-origin) or allowed_hosts" : "allowed_hosts";
      return forbidden(`Origin ${shown(origin)} is neither the Host ${shown(host)} nor in ${fields} of the config`);
    }
    const crossOrigin = isOwn ? null : origin;
    if (BODILESS.has(method) || isJson(headers["content-type"])) return { fault: null, crossOrigin };
    const message = "Unsupported media type: a request with an Origin must send application/json";
    return { fault: { status: 415, message }, crossOrigin };
  };
}

/** Whether a Content-Type header is `application/json`, with or without parameters. */
export const isJson = (contentType: string | undefined): boolean =>
  /^application\/json\s*(;|$)/i.test(contentType ?? "");

/** Whether a name is the full, the short or the `.local` host name of this machine. */
function isHostname(name: string): boolean {
  const full = hostname().toLowerCase();
  const [short = ""] = full.split(".");
  return name === full || name === short || name === `${short}.local`;
}

const forbidden = (message: string): CallerVerdict => ({
  fault: { status: 403, message: `Forbidden: ${message}` },
  crossOrigin: null,
});

const shown = (text: string): string => JSON.stringify(text.slice(0, SHOWN_CHARACTERS));

/**
 * The headers that pages of other sites may send, by name, because `*` does not include Authorization. Those of MCP are of the revisions up to
 * 2025-11-25 (Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID) and of 2026-07-28 (MCP-Protocol-Version, Mcp-Method, Mcp-Name). No tool
 * declares a header `Mcp-Param-…`.
 */
const REQUEST_HEADERS = [
  "Authorization",
  "Content-Type",
  "Mcp-Session-Id",
  "MCP-Protocol-Version",
  "Last-Event-ID",
  "Mcp-Method",
  "Mcp-Name",
].join(", ");
/** The time for which a browser remembers the answer to a preflight request. */
const MAX_AGE_S = 600;

/** Lets the page of another site read the answer to its request (CORS). The browser sends no cookies, and there are none. */
export function allowCrossOrigin(request: IncomingMessage, response: ServerResponse, origin: string): void {
  setCrossOrigin(request, origin);
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", "Mcp-Session-Id");
  response.setHeader("vary", "Origin");
}

/** Answers the request by which a browser asks whether a page may send another one. `allowCrossOrigin` has allowed the origin. */
export function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    "access-control-allow-methods": "GET, POST, DELETE",
    "access-control-allow-headers": REQUEST_HEADERS,
    "access-control-max-age": String(MAX_AGE_S),
  });
  response.end();
}
