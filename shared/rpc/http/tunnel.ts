import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../../lib/clock.ts";
import { bareHost } from "../../protocol/addresses.ts";

const { connect } = process.getBuiltinModule("node:net");

/** A request for a WebSocket that another server answers. */
interface TunnelOptions {
  /** The connection of the caller. */
  readonly connection: Duplex;
  /** The first bytes that have followed the request. */
  readonly head: Buffer;
  /** The other server, e.g. `http://10.0.0.6:8000`. */
  readonly origin: string;
  /** The path and the query of the request. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
}

/** The time in which another server of the service accepts a connection. */
export const CONNECT_MS = 2_000;
/** The idle time until the system sends TCP keep-alive probes, as undici sets it for its connections. */
const KEEP_ALIVE_AFTER_MS = 60_000;

/** Passes a request for a WebSocket on, with everything that follows. Returns the connection to the other server, which closes with that of the caller. */
export function openTunnel(options: TunnelOptions, clock: Pick<Clock, "after">): Socket {
  const { connection, head, origin, target, headers } = options;
  const url = new URL(origin);
  const address = { host: bareHost(url), port: Number(url.port) || 80 };
  const upstream = connect({ ...address, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_AFTER_MS });
  const cancelTimer = clock.after(CONNECT_MS, () => upstream.destroy());
  upstream.once("connect", cancelTimer).once("close", cancelTimer);
  const all = { ...headers, host: url.host, connection: "Upgrade", upgrade: "websocket" };
  const lines = Object.entries(all).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`));
  upstream.write([`GET ${target} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
  upstream.write(head);
  for (const [from, to] of [[upstream, connection] as const, [connection, upstream] as const]) {
    from.pipe(to);
    from.on("error", () => to.destroy());
    from.once("close", () => to.destroy());
  }
  return upstream;
}
