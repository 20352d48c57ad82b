import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Agent } from "undici";
import type { Clock } from "#shared/lib/clock.ts";
import { lazily } from "#shared/lib/lazy.ts";
import { bareHost } from "#shared/protocol/addresses.ts";
import type { HttpReply } from "#shared/rpc/jsonrpc/http-context.ts";
import { connectionFault } from "#shared/rpc/peer/call.ts";
import {
  BODILESS,
  type Caller,
  crossOriginOf,
  disconnectSignal,
  originOf,
  remoteAddressOf,
  sendReply,
} from "./request.ts";

/** The server of a service that consists of several servers, and that a request belongs to. */
export interface Destination {
  /** Names the process of the server. A server that starts again has another id. */
  readonly id: string;
  /** E.g. `http://10.0.0.6:8000`. */
  readonly origin: string;
  /** The answer if no program listens there; absent if the connection of the caller is then closed without an answer. */
  readonly whenGone?: HttpReply;
}

/** The servers of one service. A request that belongs to another of them is passed on to it once. */
export interface Forwarding {
  /** The id of this server, which its answer to `GET /health` names. */
  readonly serverId: string;
  /** Returns the server that a request belongs to; null for this server. */
  destinationOf(request: IncomingMessage): Destination | null;
  /** Returns the headers that tell the other server the caller of a request. */
  headersFor(caller: Caller, request: IncomingMessage, destination: Destination): Readonly<Record<string, string>>;
  /** Returns the caller of a request that another server of the service has passed on; null for any other request. */
  callerIn(request: IncomingMessage): Caller | null;
  /** Called when no program listens at the address of another server. */
  onGone(destination: Destination): void;
  /** Whether an address is that of another server of the service. */
  isServer(address: string): boolean;
  /** Whether a server still belongs to the service. */
  isKnown(destination: Destination): boolean;
  /** Adds a listener that is called when servers have left the service, e.g. because their machine has lost its power. */
  onChange(listener: () => void): () => void;
}

/** Passes requests on to the other servers of a service. Requests and WebSockets end when their server has left the service. */
export interface Forwarder extends Pick<Forwarding, "serverId" | "destinationOf" | "callerIn" | "isServer"> {
  /** Passes a request on, and its answer back. If the other server closes the connection without an answer, so does this one. */
  request(request: IncomingMessage, response: ServerResponse, destination: Destination): Promise<void>;
  /** Passes a request for a WebSocket on, with everything that follows. */
  upgrade(request: IncomingMessage, connection: Duplex, head: Buffer, destination: Destination): void;
  /** Closes all connections. */
  close(): void;
}

/** Headers about one connection (RFC 9110, section 7.6.1), and headers that have been evaluated. */
const NOT_PASSED_ON = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "host",
  "origin",
  "expect",
  "x-forwarded-for",
  "x-forwarded-proto",
]);

export function createForwarder(forwarding: Forwarding, clock: Pick<Clock, "after">): Forwarder {
  let opened: Agent | null = null;
  let isClosed = false;
  /** The requests and WebSockets that are passed on, each as the function that ends it. */
  const passing = new Map<() => void, Destination>();
  const removeListener = forwarding.onChange(() => {
    for (const [end, destination] of passing) if (!forwarding.isKnown(destination)) end();
  });
  const agent = lazily("the client for other servers", async () => {
    const undici = await import("undici");
    opened ??= new undici.Agent({ pipelining: 1, headersTimeout: 0, bodyTimeout: 0, connectTimeout: CONNECT_MS });
    if (isClosed) await opened.destroy();
    return opened;
  });
  const headersOf = (request: IncomingMessage, destination: Destination): Record<string, string | string[]> => {
    const caller = { remoteAddress: remoteAddressOf(request), origin: originOf(request) };
    const crossOrigin = crossOriginOf(request);
    const origin = crossOrigin === undefined ? {} : { origin: crossOrigin };
    return { ...passedOn(request.headers), ...origin, ...forwarding.headersFor(caller, request, destination) };
  };
  return {
    serverId: forwarding.serverId,
    destinationOf: forwarding.destinationOf,
    callerIn: forwarding.callerIn,
    isServer: forwarding.isServer,
    async request(request, response, destination) {
      const { origin, whenGone } = destination;
      const { method = "GET", url: path = "/" } = request;
      const { "content-length": length, ...headers } = headersOf(request, destination);
      const hasBody = !BODILESS.has(method) && (length ?? request.headers["transfer-encoding"]) !== undefined;
      // A failed call destroys its body. The request itself is still answered.
      const body = hasBody ? request.pipe(new PassThrough()) : null;
      const options = {
        origin,
        path,
        method: method as "GET",
        body,
        signal: disconnectSignal(response),
        headers: hasBody && length !== undefined ? { ...headers, "content-length": length } : headers,
      };
      const end = (): void => void response.destroy();
      passing.set(end, destination);
      try {
        const connections = await agent();
        const answer = await connections.request(options);
        response.writeHead(answer.statusCode, passedOn(answer.headers)).flushHeaders();
        await pipeline(answer.body, response);
      } catch (thrown) {
        const isGone = !response.headersSent && connectionFault(thrown).isNothingListening === true;
        if (isGone) forwarding.onGone(destination);
        if (whenGone && isGone) sendReply(response, whenGone);
        else response.destroy();
      } finally {
        passing.delete(end);
      }
    },
    upgrade(request, connection, head, destination) {
      const { url: target = "/" } = request;
      const upstream = openTunnel(
        { connection, head, origin: destination.origin, target, headers: headersOf(request, destination) },
        clock,
      );
      const end = (): void => void upstream.destroy();
      passing.set(end, destination);
      upstream.once("close", () => passing.delete(end));
      upstream.once("error", (thrown) => {
        if (connectionFault(thrown).isNothingListening) forwarding.onGone(destination);
      });
    },
    close() {
      isClosed = true;
      removeListener();
      for (const end of passing.keys()) end();
      void opened?.destroy();
    },
  };
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Returns the headers of a request or an answer that are meant for its receiver. */
const passedOn = (headers: Headers): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || NOT_PASSED_ON.has(name) ? [] : [[name, value] as const],
    ),
  );

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
const CONNECT_MS = 2_000;
/** The idle time until the system sends TCP keep-alive probes, as undici sets it for its connections. */
const KEEP_ALIVE_AFTER_MS = 60_000;

/** Passes a request for a WebSocket on, with everything that follows. Returns the connection to the other server, which closes with that of the caller. */
function openTunnel(options: TunnelOptions, clock: Pick<Clock, "after">): Socket {
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
