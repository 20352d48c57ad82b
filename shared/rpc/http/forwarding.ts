import type { IncomingMessage, ServerResponse } from "node:http";
import { type Duplex, PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Agent } from "undici";
import { lazily } from "../../lib/lazy.ts";
import { bareHost } from "../../protocol/addresses.ts";
import type { HttpReply } from "../jsonrpc/http-context.ts";
import { connectionFault } from "../peer/connection-fault.ts";
import { BODILESS, type Caller, disconnectSignal, originOf, remoteAddressOf } from "./request.ts";
import { sendReply } from "./response.ts";

const { connect } = process.getBuiltinModule("node:net");

/** The server of a service that consists of several servers, and that a request belongs to. */
export interface Destination {
  /** E.g. `http://10.0.0.6:8000`. */
  readonly origin: string;
  /** The answer if no program listens there; absent if the connection of the caller is then closed without an answer. */
  readonly whenGone?: HttpReply;
}

/** The servers of one service. A request that belongs to another of them is passed on to it once. */
export interface Forwarding {
  /** Returns the server that a request belongs to; null for this server. */
  destinationOf(request: IncomingMessage): Destination | null;
  /** Returns the headers that tell the other server the caller of a request. */
  headersFor(caller: Caller): Readonly<Record<string, string>>;
  /** Returns the caller of a request that another server of the service has passed on; null for any other request. */
  callerIn(request: IncomingMessage): Caller | null;
  /** Called when no program listens at the address of another server. */
  onGone(destination: Destination): void;
  /** Whether an address is that of another server of the service. */
  isServer(address: string): boolean;
}

/** Passes requests on to the other servers of a service. */
export interface Forwarder extends Pick<Forwarding, "destinationOf" | "callerIn" | "isServer"> {
  /** Passes a request on, and its answer back. If the other server closes the connection without an answer, so does this one. */
  request(request: IncomingMessage, response: ServerResponse, destination: Destination): Promise<void>;
  /** Passes a request for a WebSocket on, with everything that follows. */
  upgrade(request: IncomingMessage, connection: Duplex, head: Buffer, destination: Destination): void;
  /** Closes all connections. */
  close(): void;
}

/** Headers about one connection (RFC 9110, section 7.6.1), and headers that have been evaluated. */
const NOT_PASSED_ON = new Set([
  ...["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"],
  ...["host", "origin", "expect", "x-forwarded-for", "x-forwarded-proto"],
]);
const CONNECT_MS = 2_000;

export function createForwarder(forwarding: Forwarding): Forwarder {
  let opened: Agent | null = null;
  let isClosed = false;
  const tunnels = new Set<Duplex>();
  const agent = lazily(async () => {
    const undici = await import("undici");
    opened = new undici.Agent({ pipelining: 1, headersTimeout: 0, bodyTimeout: 0, connectTimeout: CONNECT_MS });
    if (isClosed) await opened.destroy();
    return opened;
  });
  const headersOf = (request: IncomingMessage): Record<string, string | string[]> => ({
    ...passedOn(request.headers),
    ...forwarding.headersFor({ remoteAddress: remoteAddressOf(request), origin: originOf(request) }),
  });
  return {
    destinationOf: forwarding.destinationOf,
    callerIn: forwarding.callerIn,
    isServer: forwarding.isServer,
    async request(request, response, destination) {
      const { origin, whenGone } = destination;
      const { method = "GET", url: path = "/" } = request;
      const { "content-length": length, ...headers } = headersOf(request);
      const hasBody = !BODILESS.has(method) && (length ?? request.headers["transfer-encoding"]) !== undefined;
      // A failed call destroys its body. The request itself is still answered.
      const body = hasBody ? request.pipe(new PassThrough()) : null;
      const options = {
        ...{ origin, path, method: method as "GET", body, signal: disconnectSignal(response) },
        headers: hasBody && length !== undefined ? { ...headers, "content-length": length } : headers,
      };
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
      }
    },
    upgrade(request, connection, head, destination) {
      const url = new URL(destination.origin);
      const upstream = connect({ host: bareHost(url), port: Number(url.port) || 80 });
      upstream.once("error", (thrown) => {
        if (connectionFault(thrown).isNothingListening) forwarding.onGone(destination);
      });
      const headers = { ...headersOf(request), host: url.host, connection: "Upgrade", upgrade: "websocket" };
      const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`));
      upstream.write([`GET ${request.url ?? "/"} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
      upstream.write(head);
      for (const [from, to] of [[upstream, connection] as const, [connection, upstream] as const]) {
        tunnels.add(from);
        from.pipe(to);
        from.on("error", () => to.destroy());
        from.once("close", () => {
          tunnels.delete(from);
          to.destroy();
        });
      }
    },
    close() {
      isClosed = true;
      for (const tunnel of tunnels) tunnel.destroy();
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
