import { createRequire } from "node:module";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Cancel, Clock } from "#shared/lib/clock.ts";

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

/** The frames of an open WebSocket. A simulated network has another implementation. */
export interface Frames {
  /** Sends a text frame. Does nothing after the end of the connection. */
  send(text: string): void;
  ping(): void;
  /** The number of bytes that the connection has not accepted yet. */
  readonly bufferedBytes: number;
  /** Starts the closing handshake, with a code and a reason (RFC 6455, section 7.4). */
  close(code: number, reason: string): void;
  /** Closes the connection without a closing handshake. */
  terminate(): void;
}

export interface FrameEvents {
  onText(text: string): void;
  onPong(): void;
  /** Called once, after all other events. */
  onClose(end: SocketEnd): void;
}

/** The end of a WebSocket. */
export interface SocketEnd {
  /** The error with which the connection ended; null after a closing handshake. */
  readonly error: Error | null;
  /** Whether the peer sent a message above the limit. */
  readonly isTooLarge: boolean;
}

/** A peer that does not read is not read either while more bytes than this wait for it. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
const UNSUPPORTED_DATA = 1003;

/**
 * Returns the frames of a WebSocket of `ws` on `connection`, and passes the received ones to `events`. Call it in the turn in which the WebSocket
 * opens, otherwise frames are lost. The frames of one turn of the event loop go in one write.
 */
export function framesOf(socket: WebSocket, connection: Duplex, clock: Clock, events: FrameEvents): Frames {
  onEnd(socket, events);
  let isCorked = false;
  let isPaused = false;
  const uncork = (): void => {
    isCorked = false;
    connection.uncork();
    if (isPaused || socket.bufferedAmount <= MAX_BUFFERED_BYTES) return;
    isPaused = true;
    socket.pause();
    connection.once("drain", () => {
      isPaused = false;
      socket.resume();
    });
  };
  socket.on("message", (data: Buffer, isBinary: boolean) => {
    if (isBinary) socket.close(UNSUPPORTED_DATA, "send text frames");
    else events.onText(data.toString("utf8"));
  });
  socket.on("pong", () => events.onPong());
  return {
    send(text) {
      if (!isCorked) {
        isCorked = true;
        connection.cork();
        clock.defer(uncork);
      }
      socket.send(text);
    },
    ping: () => socket.ping(),
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
  };
}

/** The code of `ws` for a message above the limit. */
const TOO_LARGE = "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";

/** Calls `onClose` when a WebSocket has closed, which it does after every error. */
function onEnd(socket: WebSocket, { onClose }: FrameEvents): void {
  let error: NodeJS.ErrnoException | null = null;
  socket.on("error", (thrown: Error) => {
    error = thrown;
  });
  socket.on("close", () => onClose({ error, isTooLarge: error?.code === TOO_LARGE }));
}

const require = createRequire(import.meta.url);

/** Loads `ws` at the first WebSocket of a process. `require` takes 8 ms; `import` takes 20 ms, because it also reads the exports of Node's modules. */
export const loadWs = (): typeof import("ws") => require("ws");
