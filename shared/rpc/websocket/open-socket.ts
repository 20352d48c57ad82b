import type { Duplex } from "node:stream";
import type { Cancel, Clock } from "../../lib/clock.ts";
import { type FrameEvents, type Frames, framesOf } from "./frames.ts";
import { loadWs } from "./load-ws.ts";

/** The address of a WebSocket and the limits of its connection. */
export interface SocketAddress {
  /** A ws or wss URL. */
  readonly url: string;
  /** The token that the request for the WebSocket carries as `Authorization: Bearer`. */
  readonly bearer: string | undefined;
  /** The largest accepted message, in bytes. A larger one ends the connection. */
  readonly maxMessageBytes: number;
}

/** The functions that receive the outcome of an opening. One of them is called, once. */
export interface OpeningEvents {
  /** The WebSocket is open. Call `frames` in the same turn, otherwise frames are lost. */
  onOpen(frames: (events: FrameEvents) => Frames): void;
  /** The connection or the request for the WebSocket was refused, or the opening was cancelled. */
  onFail(): void;
}

/** Opens a WebSocket. Returns the function that cancels the opening. A simulated network has another implementation. */
export type OpenSocket = (address: SocketAddress, clock: Clock, events: OpeningEvents) => Cancel;

/** Opens a WebSocket of `ws`, without compression. Redirects are not followed. */
export const openSocket: OpenSocket = ({ url, bearer, maxMessageBytes }, clock, { onOpen, onFail }) => {
  const { WebSocket } = loadWs();
  const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  const socket = new WebSocket(url, [], { perMessageDeflate: false, maxPayload: maxMessageBytes, headers });
  let connection: Duplex | null = null;
  let isSettled = false;
  socket.once("upgrade", (response: { readonly socket: Duplex }) => {
    connection = response.socket;
  });
  socket.once("open", () => {
    if (isSettled || !connection) return socket.terminate();
    isSettled = true;
    const opened = connection;
    onOpen((events) => framesOf(socket, opened, clock, events));
  });
  socket.on("error", () => {
    if (isSettled) return;
    isSettled = true;
    onFail();
  });
  return () => {
    if (!isSettled) socket.terminate();
  };
};
