import type { ServerResponse } from "node:http";
import type { Viewer } from "#shared/games/game.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { memoized } from "#shared/lib/memoized.ts";
import { EVENT_STREAM_HEADERS } from "#shared/rpc/http/event-stream.ts";
import type { MessageSocket } from "#shared/rpc/websocket/message-socket.ts";
import type { Session } from "#shared/session/session.ts";
import type { SessionHost, StoredSession } from "../sessions/host.ts";
import { recentEntries, viewFor } from "../views.ts";
import { RestError } from "./requests.ts";

/** The contents of one kind of stream: the name of its events, and the view of a session that they carry. */
interface StreamContents {
  readonly event: string;
  /** `rows` are the last entries of the log up to this session (`recentEntries`). */
  view(session: Session, viewer: Viewer, rows: StoredSession["rows"]): unknown;
  /** State outside the log that the view shows, most of it before the first action. A change of this text is also sent as an event. */
  readonly unloggedState?: (session: Session) => string;
}

/** The streams of one session. The text of an event is created once for each kind of viewer. */
interface SessionStreams {
  readonly byViewer: Map<Viewer, Viewers>;
  readonly unwatch: () => void;
}

interface Viewers {
  readonly clients: Set<StreamClient>;
  /** Identifies the last event that was sent (`#eventKey`). */
  lastKey: string;
}

const MAX_STREAMS = 10_000;
const HEARTBEAT_MS = 15_000;

/** The events of sessions, as Server-Sent Events and on WebSockets. */
export class Streams {
  readonly #host: SessionHost;
  readonly #contents: StreamContents;
  readonly #bySession = new Map<string, SessionStreams>();
  readonly #stopHeartbeat: () => void;
  #count = 0;

  constructor(host: SessionHost, contents: StreamContents, clock: Clock) {
    this.#host = host;
    this.#contents = contents;
    this.#stopHeartbeat = clock.every(HEARTBEAT_MS, () => {
      for (const client of clientsOf(this.#bySession)) client.keepAlive();
    });
  }

  /** Throws TOO_MANY_REQUESTS at the limit of streams. */
  checkLimit(): void {
    if (this.#count >= MAX_STREAMS) {
      throw new RestError("TOO_MANY_REQUESTS", `No more than ${MAX_STREAMS} event streams`);
    }
  }

  /** Opens a stream of Server-Sent Events for a viewer, which continues after the event with the given id. Throws TOO_MANY_REQUESTS at the limit of streams. */
  open(stored: StoredSession, viewer: Viewer, lastEventId: number | null, response: ServerResponse): void {
    const { session, rows } = stored;
    if (response.closed) return; // the client has disconnected, and `close` is not emitted again
    this.checkLimit();
    if (session.status === "completed" && lastEventId !== null && lastEventId >= rows.length - 1) {
      response.writeHead(204).end(); // an EventSource does not reconnect after 204
      return;
    }
    // Chunked encoding would need several writes for each event. The end of the connection ends the stream.
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, EVENT_STREAM_HEADERS);
    if (response.req.method === "HEAD") {
      response.end();
      return;
    }
    response.flushHeaders();
    this.connect(stored, viewer, lastEventId, responseClient(response));
  }

  /** Sends a client the events after the given id and each later event, until the session ends. */
  connect(stored: StoredSession, viewer: Viewer, lastEventId: number | null, client: StreamClient): void {
    this.#sendMissed(stored, viewer, lastEventId, client);
    if (stored.session.status === "completed") client.end("over");
    else this.#join(stored.session, viewer, client);
  }

  /** The number of open streams. */
  count(): number {
    return this.#count;
  }

  /** Ends all streams. Their clients reconnect with their last event id. */
  close(): void {
    this.#stopHeartbeat();
    for (const client of clientsOf(this.#bySession)) client.end("stopping");
  }

  /** Sends the current state to a new client, and each state since the last event to a client that reconnects. */
  #sendMissed(
    { session, rows }: StoredSession,
    viewer: Viewer,
    lastEventId: number | null,
    client: StreamClient,
  ): void {
    const isNew = lastEventId === null || (this.#contents.unloggedState !== undefined && session.tick === 0);
    const missed = isNew ? [{ seq: rows.length - 1, session }] : this.#host.since(session.id, lastEventId);
    let lastKey = isNew ? "" : `${lastEventId} active `;
    for (const step of missed) {
      const now = this.#eventKey(step.session, viewer);
      if (now !== lastKey) client.send(this.#eventOf(step.session, rows, step.seq, viewer));
      lastKey = now;
    }
  }

  #join(session: Session, viewer: Viewer, client: StreamClient): void {
    let streams = this.#bySession.get(session.id);
    if (!streams) {
      streams = { byViewer: new Map(), unwatch: this.#host.watch(session.id, this.#sendCommit) };
      this.#bySession.set(session.id, streams);
    }
    const { byViewer, unwatch } = streams;
    const viewers = byViewer.get(viewer) ?? { clients: new Set(), lastKey: this.#eventKey(session, viewer) };
    byViewer.set(viewer, viewers);
    viewers.clients.add(client);
    this.#count++;
    client.onClose(() => {
      this.#count--;
      viewers.clients.delete(client);
      if (viewers.clients.size === 0) byViewer.delete(viewer);
      if (byViewer.size > 0) return;
      unwatch();
      this.#bySession.delete(session.id);
    });
  }

  /** Sends a commit to all viewers whose view it changes. */
  readonly #sendCommit = (stored: StoredSession): void => {
    const { session, rows } = stored;
    for (const [viewer, viewers] of this.#bySession.get(session.id)?.byViewer ?? []) {
      const now = this.#eventKey(session, viewer);
      if (now === viewers.lastKey) continue;
      viewers.lastKey = now;
      const event = this.#eventOf(session, rows, rows.length - 1, viewer);
      for (const client of viewers.clients) client.send(event);
    }
    if (session.status !== "completed") return;
    for (const { clients } of this.#bySession.get(session.id)?.byViewer.values() ?? []) {
      for (const client of clients) client.end("over");
    }
  };

  /**
   * An event. `seq` is the sequence number of the last entry of the session. The id is the tick that the viewer may know while the session is active,
   * and then `seq`.
   */
  #eventOf(session: Session, rows: StoredSession["rows"], seq: number, viewer: Viewer): StreamEvent {
    const id = session.status === "active" ? viewFor(session, viewer).tick : seq;
    const data = JSON.stringify(this.#contents.view(session, viewer, recentEntries(session, rows, seq)));
    return streamEvent(id, this.#contents.event, data);
  }

  /** Identifies an event: the viewer's tick, the status of the session and the state outside the log. */
  #eventKey(session: Session, viewer: Viewer): string {
    return `${viewFor(session, viewer).tick} ${session.status} ${this.#contents.unloggedState?.(session) ?? ""}`;
  }
}

function* clientsOf(bySession: ReadonlyMap<string, SessionStreams>): Iterable<StreamClient> {
  for (const { byViewer } of bySession.values()) for (const { clients } of byViewer.values()) yield* clients;
}

/** An event in the formats of the clients. Each text is created once for all clients. */
interface StreamEvent {
  /** A Server-Sent Event. */
  readonly sent: () => Buffer;
  /** A frame of a WebSocket. */
  readonly frame: () => string;
}

/** A client that receives the events of a session. */
interface StreamClient {
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
const streamEvent = (id: number, event: string, data: string): StreamEvent => ({
  sent: memoized(() => Buffer.from(`id: ${id}\nevent: ${event}\ndata: ${data}\n\n`)),
  frame: memoized(() => `{"event":${JSON.stringify(event)},"event_id":${id},"data":${data}}`),
});

/** The client of a response that sends Server-Sent Events. */
function responseClient(response: ServerResponse): StreamClient {
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
