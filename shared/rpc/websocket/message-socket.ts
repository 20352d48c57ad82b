import type { Cancel, Clock } from "../../lib/clock.ts";
import type { FrameEvents, Frames, SocketEnd } from "./websocket.ts";

/** An open WebSocket that carries text messages in both directions. */
export interface MessageSocket {
  /** Sends a message. Does nothing after the end of the connection. */
  send(text: string): void;
  /** The number of bytes that the connection has not accepted yet. It grows while the peer does not read. */
  readonly bufferedBytes: number;
  /** Closes the connection with a code and a reason (RFC 6455, section 7.4). */
  close(code: number, reason: string): void;
}

/** The functions that a message socket calls. */
export interface SocketEvents {
  onMessage(text: string): void;
  /** Called once, after the last message, when the connection has closed or is lost. */
  onClose(end: SocketEnd): void;
}

/** A peer from which nothing is received between two pings has lost the connection or has stopped. */
const PING_INTERVAL_MS = 20_000;
/** The time that a peer has for its part of the closing handshake. */
const CLOSE_MS = 300;

/**
 * Returns a message socket on the frames that `open` returns, and passes its messages to the events that `accept` returns. A ping is sent every `pingMs`,
 * 20 s by default, because a connection can be lost without an error. The connection is closed if nothing is received between two pings.
 */
export function messageSocket(
  open: (events: FrameEvents) => Frames,
  accept: (socket: MessageSocket) => SocketEvents,
  clock: Clock,
  pingMs = PING_INTERVAL_MS,
): MessageSocket {
  let isHeard = true;
  let isClosed = false;
  let cancelClosing: Cancel = () => {};
  const frames = open({
    onText(text) {
      isHeard = true;
      events.onMessage(text);
    },
    onPong() {
      isHeard = true;
    },
    onClose(end) {
      isClosed = true;
      cancelPings();
      cancelClosing();
      events.onClose(end);
    },
  });
  const cancelPings = clock.every(pingMs, () => {
    if (!isHeard) return frames.terminate();
    isHeard = false;
    frames.ping();
  });
  const socket: MessageSocket = {
    send(text) {
      if (!isClosed) frames.send(text);
    },
    get bufferedBytes() {
      return frames.bufferedBytes;
    },
    close(code, reason) {
      if (isClosed) return;
      frames.close(code, reason);
      cancelClosing = clock.after(CLOSE_MS, () => frames.terminate());
    },
  };
  const events = accept(socket);
  return socket;
}
