import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { isLoopback } from "../../protocol/addresses.ts";
import type { HttpContext } from "../jsonrpc/http-context.ts";
import type { RejectionLog } from "../jsonrpc/rejection-log.ts";

/** Returns the path of a request without its query. The target may be an absolute URL, as for a proxy (RFC 9112, section 3.2.2). */
export const pathOf = ({ url = "/" }: IncomingMessage): string =>
  url.replace(/^https?:\/\/[^/?]+/i, "").split("?", 1)[0] || "/";

/** Returns the token of `Authorization: Bearer`, whose scheme is case-insensitive (RFC 9110, section 11.1); null without one. */
export const bearerOf = ({ headers }: Pick<IncomingMessage, "headers">): string | null =>
  /^Bearer +(\S.*)$/i.exec(headers.authorization ?? "")?.[1] ?? null;

/**
 * Returns the address of the caller. A request from loopback with `X-Forwarded-For` was forwarded by a proxy on this machine: its caller is the last
 * address in the header, which the proxy has added, or `unknown` if that is not an IP address. From other addresses the header is ignored.
 */
export function remoteAddressOf({ headers, socket }: Pick<IncomingMessage, "headers" | "socket">): string {
  const address = socket.remoteAddress ?? "";
  const forwarded = headers["x-forwarded-for"];
  if (forwarded === undefined || !isLoopback(address)) return address;
  const last = String(forwarded).split(",").at(-1)?.trim() ?? "";
  return isIP(last) !== 0 ? last : "unknown";
}

/** A response, or the connection of a WebSocket. */
interface Closing {
  readonly closed: boolean;
  once(event: "close", listener: () => void): unknown;
}

/**
 * Returns the scheme, host and port by which the caller has called this server. Behind a proxy on this machine the scheme is that of the proxy. Returns
 * an empty string without a Host header.
 */
export function originOf({ headers, socket }: Pick<IncomingMessage, "headers" | "socket">): string {
  const { host, "x-forwarded-proto": forwarded } = headers;
  if (host === undefined) return "";
  return `${forwarded === "https" && isLoopback(socket.remoteAddress ?? "") ? "https" : "http"}://${host}`;
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
    // Not a getter: V8 allocates the getter of an object literal in the old generation, which keeps the request in memory until the next full collection.
    abortSignal: () => (signal ??= disconnectSignal(closing)),
  };
}

/** Whether the caller accepts an event stream as the answer, as MCP clients do. */
export const acceptsStream = ({ headers }: Pick<IncomingMessage, "headers">): boolean =>
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
