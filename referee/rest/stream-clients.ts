import type { ServerResponse } from "node:http";
import { memoized } from "#shared/lib/memoized.ts";
import type { MessageSocket } from "#shared/rpc/websocket/message-socket.ts";

/** An event in the formats of the clients. Each text is created once for all clients. */
export interface StreamEvent {
  /** A Server-Sent Event. */
  readonly sent: () => Buffer;
  /** A frame of a WebSocket. */
  readonly frame: () => string;
}

/** A client that receives the events of a session. */
export interface StreamClient {
  send(event: StreamEvent): void;
  /** Sends bytes that have no meaning, because proxies close connections without traffic. */
  keepAlive(): void;
  /** Ends the stream: the session is over, or the server stops. */
  end(reason: "over" | "stopping"): void;
  /** Registers a function that is called when the connection closes. */
  onClose(listener: () => void): void;
}

/** A connection with more unread bytes is closed. Its client reconnects with its last event id. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** `data` is JSON text. */
export const streamEvent = (id: number, event: string, data: string): StreamEvent => ({
  sent: memoized(() => Buffer.from(`id: ${id}\nevent: ${event}\ndata: ${data}\n\n`)),
  frame: memoized(() => `{"event":${JSON.stringify(event)},"event_id":${id},"data":${data}}`),
});

/** The client of a response that sends Server-Sent Events. */
export function responseClient(response: ServerResponse): StreamClient {
  const write = (text: string | Buffer): void => {
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
    else response.write(text);
  };
  return {
    send: (event) => write(event.sent()),
    keepAlive: () => write(": still here\n\n"),
    end: () => void response.end(),
    onClose: (listener) => void response.once("close", listener),
  };
}

/** Codes of closed WebSockets (RFC 6455, section 7.4). */
const NORMAL = 1000;
const RESTART = 1012;
export const TRY_AGAIN_LATER = 1013;

/** The client of a WebSocket. */
interface SocketClient extends StreamClient {
  /** Sends the text that `reply` resolves with. The WebSocket is not closed at the end of the session before the replies to its actions are sent. */
  reply(reply: Promise<string>): Promise<void>;
  /** The number of actions without a reply. */
  readonly pending: number;
  /** Must be called when the WebSocket has closed. */
  closed(): void;
}

export function socketClient(socket: MessageSocket): SocketClient {
  const listeners: (() => void)[] = [];
  let pending = 0;
  let isOver = false;
  const closeIfOver = (): void => {
    if (isOver && pending === 0) socket.close(NORMAL, "the session is over");
  };
  return {
    send(event) {
      if (socket.bufferedBytes > MAX_UNREAD_BYTES) socket.close(TRY_AGAIN_LATER, "too many unread events");
      else socket.send(event.frame());
    },
    keepAlive() {}, // a message socket sends pings
    end(reason) {
      if (reason === "stopping") return socket.close(RESTART, "the server stops: connect again");
      isOver = true;
      closeIfOver();
    },
    onClose: (listener) => void listeners.push(listener),
    async reply(reply) {
      pending++;
      socket.send(await reply);
      pending--;
      closeIfOver();
    },
    get pending() {
      return pending;
    },
    closed() {
      for (const listener of listeners) listener();
    },
  };
}
