import type { IncomingMessage, ServerResponse } from "node:http";
import { BlockList, isIP } from "node:net";
import { isLoopback } from "#shared/protocol/addresses.ts";
import type { HttpContext, HttpReply } from "#shared/rpc/jsonrpc/http-context.ts";
import type { RejectionLog } from "#shared/rpc/jsonrpc/rejection-log.ts";

/** Methods whose requests have no body. */
export const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS"]);

/**
 * Returns the path of a request without its query. The target may be an absolute URL, as for a proxy (RFC 9112, section 3.2.2). `/mcp/` is `/mcp`,
 * because some frameworks of clients add a slash.
 */
export function pathOf({ url = "/" }: IncomingMessage): string {
  const path = url.replace(/^https?:\/\/[^/?]+/i, "").split("?", 1)[0] || "/";
  return path === "/mcp/" ? "/mcp" : path;
}

/** Returns the token of `Authorization: Bearer`, whose scheme is case-insensitive (RFC 9110, section 11.1); null without one. */
export const bearerOf = ({ headers }: Pick<IncomingMessage, "headers">): string | null =>
  /^Bearer +(\S.*)$/i.exec(headers.authorization ?? "")?.[1] ?? null;

/** The program that has sent a request, as this server sees it. */
export interface Caller {
  readonly remoteAddress: string;
  /** The scheme, host and port by which the caller has called the service; empty without a Host header. */
  readonly origin: string;
}

type Head = Pick<IncomingMessage, "headers" | "socket">;

/** The callers of requests that other servers of the service have passed on. */
const passedOn = new WeakMap<Head, Caller>();
/** The addresses of proxies that are trusted besides those on this machine, by the requests that they have passed on. */
const trusted = new WeakMap<Head, IsTrustedProxy>();

/** The allowed origins of other sites, by the requests that their pages have sent. */
const crossOrigins = new WeakMap<Head, string>();

/** Records that a page of another site has sent a request, before any other function reads the request. */
export const setCrossOrigin = (request: Head, origin: string): void => void crossOrigins.set(request, origin);

/** Returns the origin of the page of another site that has sent a request; undefined for any other request. */
export const crossOriginOf = (request: Head): string | undefined => crossOrigins.get(request);

/** Whether an address is that of a proxy whose `X-Forwarded-For` is correct. */
export type IsTrustedProxy = (address: string) => boolean;

/** Determines how the caller of a request is found, before any other function reads the request. */
export function identifyCaller(request: IncomingMessage, isTrusted: IsTrustedProxy, caller: Caller | null): void {
  trusted.set(request, isTrusted);
  if (caller) passedOn.set(request, caller);
}

/** Whether another server of the service has passed a request on. */
const isPassedOn = (request: Head): boolean => passedOn.has(request);

const isFromProxy = (request: Head): boolean => {
  const address = request.socket.remoteAddress ?? "";
  return isLoopback(address) || (trusted.get(request)?.(address) ?? false);
};

/**
 * Returns the address of the caller. A request with `X-Forwarded-For` from loopback or from a trusted proxy was passed on by that proxy: its caller is the
 * last address in the header that is not a trusted proxy, or `unknown` if that is not an IP address. From other addresses the header is ignored.
 */
export function remoteAddressOf(request: Head): string {
  const known = passedOn.get(request);
  if (known) return known.remoteAddress;
  const { headers, socket } = request;
  const forwarded = headers["x-forwarded-for"];
  if (forwarded === undefined || !isFromProxy(request)) return socket.remoteAddress ?? "";
  const isTrusted = trusted.get(request) ?? (() => false);
  const addresses = String(forwarded)
    .split(",")
    .map((address) => address.trim());
  const address = addresses.findLast((one) => !isTrusted(one)) ?? addresses[0] ?? "";
  return isIP(address) !== 0 ? address : "unknown";
}

/**
 * Returns the scheme, host and port by which the caller has called this server. The scheme is that of the proxy behind a proxy on this machine or a
 * trusted one. Returns an empty string without a Host header.
 */
export function originOf(request: Head): string {
  const known = passedOn.get(request);
  if (known) return known.origin;
  const { host, "x-forwarded-proto": forwarded } = request.headers;
  if (host === undefined) return "";
  return `${forwarded === "https" && isFromProxy(request) ? "https" : "http"}://${host}`;
}

/** A response, or the connection of a WebSocket. */
interface Closing {
  readonly closed: boolean;
  once(event: "close", listener: () => void): unknown;
}

/** Returns a signal that is aborted when a response or a connection is closed. */
export function disconnectSignal(closing: Closing): AbortSignal {
  const controller = new AbortController();
  if (closing.closed) controller.abort();
  else closing.once("close", () => controller.abort());
  return controller.signal;
}

/** Returns the context of a request whose caller has disconnected when `closing` closes. */
export function contextOf(
  request: IncomingMessage,
  closing: Closing,
  rejections: RejectionLog | undefined,
): HttpContext {
  const remoteAddress = remoteAddressOf(request);
  /** Shared by the calls of a batch, because each signal adds a listener. */
  let signal: AbortSignal | undefined;
  return {
    bearer: bearerOf(request),
    remoteAddress,
    target: request.url ?? "/",
    origin: originOf(request),
    logRejection: rejections && ((rejected) => rejections.write(remoteAddress, rejected)),
    isMcpClient: acceptsStream(request),
    ...(isPassedOn(request) && { isPassedOn: true as const }),
    ...(crossOriginOf(request) !== undefined && { isCrossOrigin: true as const }),
    // Not a getter: V8 allocates the getter of an object literal in the old generation, which keeps the request in memory until the next full collection.
    abortSignal: () => (signal ??= disconnectSignal(closing)),
  };
}

/** Whether the caller accepts an event stream as the answer, as MCP clients do. */
const acceptsStream = ({ headers }: Pick<IncomingMessage, "headers">): boolean =>
  headers.accept?.includes("text/event-stream") ?? false;

/** Reads a body as UTF-8 and calls `done` once: with null if it is larger than `limitBytes`. `done` is not called if the connection breaks. */
export function readBody(request: IncomingMessage, limitBytes: number, done: (body: string | null) => void): void {
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) {
    done(null);
    return;
  }
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  request.on("data", (chunk: Buffer) => {
    sizeBytes += chunk.length;
    if (sizeBytes <= limitBytes) chunks.push(chunk);
    else if (sizeBytes - chunk.length <= limitBytes) done(null);
  });
  request.on("end", () => {
    if (sizeBytes <= limitBytes)
      done((chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString("utf8"));
  });
}

/** Answers a request with a JSON-RPC error. */
export const sendError = (response: ServerResponse, status: number, message: string): void =>
  send(response, status, JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32600, message } }));

/** Sends the complete answer of a handler. */
export const sendReply = (response: ServerResponse, { status, body, headers }: HttpReply): void =>
  send(response, status, body, headers);

/** Sends an answer, unless the headers of an answer have been sent. A body is sent as JSON. */
export function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) return;
  const contentHeaders = body === "" ? {} : { "content-type": "application/json" };
  response.writeHead(status, { ...contentHeaders, ...headers, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

/** Returns whether a text is an IP address, or a network such as `10.0.0.0/8`. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const maxBits = isIP(address) === 6 ? 128 : 32;
  const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits);
  return isIP(address) !== 0 && isNetwork && more.length === 0;
}

/** Returns a function that is true for the addresses in a list of addresses and networks. */
export function trustedProxies(list: readonly string[]): IsTrustedProxy {
  if (list.length === 0) return () => false;
  const known = new BlockList();
  for (const text of list) {
    const [address = "", bits] = text.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) known.addAddress(address, family);
    else known.addSubnet(address, Number(bits), family);
  }
  return (text) => {
    const address = text.replace(/^::ffff:(?=\d+\.)/i, "");
    return isIP(address) !== 0 && known.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  };
}
