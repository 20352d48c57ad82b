import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { isLoopback } from "../../protocol/addresses.ts";

/** Returns the path of a request. Its target may be a complete URL (RFC 9112, section 3.2.2). */
export const pathOf = ({ url = "/" }: IncomingMessage): string =>
  url.replace(/^https?:\/\/[^/?]+/i, "").split("?", 1)[0] || "/";

/** Returns the token of `Authorization: Bearer`; null without one. The scheme is case-insensitive (RFC 9110, section 11.1). */
export const bearerOf = ({ headers }: Pick<IncomingMessage, "headers">): string | null =>
  /^Bearer +(\S.*)$/i.exec(headers.authorization ?? "")?.[1] ?? null;

/**
 * Returns the address of the caller. A request from loopback with `X-Forwarded-For` was forwarded by a proxy on this machine: its caller is
 * the last address of the header, which the proxy wrote. An invalid address is returned as "unknown", which is not loopback. The header of
 * other requests is ignored.
 */
export function remoteAddressOf({ headers, socket }: Pick<IncomingMessage, "headers" | "socket">): string {
  const address = socket.remoteAddress ?? "";
  const forwarded = headers["x-forwarded-for"];
  if (forwarded === undefined || !isLoopback(address)) return address;
  const last = String(forwarded).split(",").at(-1)?.trim() ?? "";
  return isIP(last) !== 0 ? last : "unknown";
}

/** Returns a signal that is aborted when the caller closes the connection. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.closed) gone.abort();
  else response.once("close", () => gone.abort());
  return gone.signal;
}

/** Whether the caller accepts an event stream, as MCP clients do. */
export const acceptsStream = ({ headers }: Pick<IncomingMessage, "headers">): boolean =>
  headers.accept?.includes("text/event-stream") ?? false;

/** Calls `done` with the body as UTF-8, or with null if it is larger than `limit` bytes. `done` is not called if the connection breaks. */
export function collect(request: IncomingMessage, limit: number, done: (body: string | null) => void): void {
  if (Number(request.headers["content-length"] ?? 0) > limit) {
    done(null);
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
    else if (size - chunk.length <= limit) done(null);
  });
  request.on("end", () => {
    if (size <= limit) done((chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString("utf8"));
  });
}
