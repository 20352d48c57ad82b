import type { Clock } from "../../lib/clock.ts";
import { parseEndpoint } from "../../protocol/addresses.ts";
import type { OpenSocket } from "../websocket/open-socket.ts";
import type { Transport } from "./call.ts";
import { MAX_MESSAGE_BYTES } from "./call-socket.ts";
import { EndpointSocket } from "./endpoint-socket.ts";

/** The time after the last call until the WebSocket to an endpoint is closed. */
const IDLE_MS = 5 * 60_000;
/** The largest number of WebSockets of a process. Calls to further endpoints are made by POST. */
const MAX_SOCKETS = 5_000;
const NORMAL = 1000;
const GOING_AWAY = 1001;

interface SocketTransportOptions {
  readonly clock: Clock;
  readonly open: OpenSocket;
  /** Sends the calls for which there is no WebSocket at the moment. */
  readonly fallback: Transport;
}

/**
 * Creates the transport that sends calls over one WebSocket for each endpoint and bearer token: the request for the WebSocket carries the token. The
 * first call opens the WebSocket. `fallback` sends the calls if the WebSocket cannot be opened, from its loss until it is open again, and if it is
 * busy. When a WebSocket is lost its calls fail as after a lost connection, so `fallback` sends their repetitions.
 */
export function createSocketTransport({ clock, open, fallback }: SocketTransportOptions): Transport {
  const sockets = new Map<string, EndpointSocket>();
  let isClosed = false;

  const closeIdle = (): void => {
    for (const [key, socket] of sockets) {
      if (!socket.isIdle || clock.monotonic() - socket.usedAtMs <= IDLE_MS) continue;
      sockets.delete(key);
      void socket.close(NORMAL, "no calls for some time");
    }
  };

  const add = (key: string, endpoint: string, bearer: string | undefined): EndpointSocket | null => {
    closeIdle();
    const url = socketUrl(endpoint);
    if (url === null || sockets.size >= MAX_SOCKETS) return null;
    const address = { url, bearer, maxMessageBytes: MAX_MESSAGE_BYTES };
    const socket = new EndpointSocket({ clock, address, open, fallback });
    sockets.set(key, socket);
    return socket;
  };

  return {
    send(request, call) {
      const isFit = call.maxReplyBytes <= MAX_MESSAGE_BYTES && !call.closesConnection && !isClosed;
      if (!isFit) return fallback.send(request, call);
      const key = `${call.bearer ?? ""} ${request.endpoint}`;
      const socket = sockets.get(key) ?? add(key, request.endpoint, call.bearer);
      (socket ?? fallback).send(request, call);
    },
    async close() {
      isClosed = true;
      await Promise.all([...sockets.values()].map((socket) => socket.close(GOING_AWAY, "the client is closed")));
      sockets.clear();
    },
  };
}

/** Returns the URL of the WebSocket at an endpoint; null if the endpoint is not an http or https URL. */
function socketUrl(endpoint: string): string | null {
  const url = parseEndpoint(endpoint);
  if (!url) return null;
  return `${url.protocol === "https:" ? "wss:" : "ws:"}//${url.host}${url.pathname}${url.search}`;
}
