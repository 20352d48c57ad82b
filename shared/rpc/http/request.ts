import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { isLoopback } from "../../protocol/addresses.ts";

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

/** Returns a signal that is aborted when the connection of a response is closed. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.closed) controller.abort();
  else response.once("close", () => controller.abort());
  return controller.signal;
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
