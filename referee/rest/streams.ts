import type { ServerResponse } from "node:http";
import type { Viewer } from "#shared/games/game.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { EVENT_STREAM_HEADERS } from "#shared/rpc/stdio/event-stream.ts";
import type { Session } from "#shared/session/session.ts";
import type { SessionHost } from "../sessions/host.ts";
import type { StoredSession } from "../sessions/live-sessions.ts";
import { viewFor } from "../views/session-views.ts";
import { RestError } from "./errors.ts";

/** The contents of one kind of stream: the name of its events, and the view of a session that they carry. */
interface Telling {
  readonly event: string;
  /** `rows` are the log up to this session. */
  view(session: Session, viewer: Viewer, rows: StoredSession["rows"]): unknown;
  /** State outside the log that the view shows before the first action. A change of it is an event too. */
  readonly besides?: (session: Session) => string;
}

/** The streams of one session. The text of an event is made once for each viewer. */
interface Audience {
  readonly byViewer: Map<Viewer, Watchers>;
  readonly leave: () => void;
}

interface Watchers {
  readonly responses: Set<ServerResponse>;
  /** Identifies the last event that was sent, see `#seenOf`. */
  seen: string;
}

const MAX_STREAMS = 10_000;
const HEARTBEAT_MS = 15_000;
/** A connection with more unread bytes is closed. Its client reconnects with its last event id. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** Server-Sent Events of sessions. */
export class Streams {
  readonly #host: SessionHost;
  readonly #telling: Telling;
  readonly #audiences = new Map<string, Audience>();
  readonly #stopHeartbeat: () => void;
  #count = 0;

  constructor(host: SessionHost, telling: Telling, clock: Clock) {
    this.#host = host;
    this.#telling = telling;
    this.#stopHeartbeat = clock.every(HEARTBEAT_MS, () => {
      for (const response of responsesOf(this.#audiences)) send(response, ": still here\n\n");
    });
  }

  /** Opens a stream of one viewer. It continues after the event with the given id. */
  open(stored: StoredSession, viewer: Viewer, lastEventId: number | null, response: ServerResponse): void {
    const { session, rows } = stored;
    if (response.closed) return; // the client has disconnected, and `close` is not emitted again
    if (this.#count >= MAX_STREAMS) {
      throw new RestError("TOO_MANY_REQUESTS", `No more than ${MAX_STREAMS} event streams`);
    }
    const last = rows.length - 1;
    if (session.status === "completed" && lastEventId !== null && lastEventId >= last) {
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
    this.#sendMissed(stored, viewer, lastEventId, response);
    if (session.status === "completed") response.end();
    else this.#join(session, viewer, response);
  }

  /** Open event streams. */
  count(): number {
    return this.#count;
  }

  /** Ends all streams. Their clients reconnect with their last event id. */
  close(): void {
    this.#stopHeartbeat();
    for (const sessionId of this.#audiences.keys()) this.#end(sessionId);
  }

  /** Sends the present state to a new client, and each state since the last event to one that reconnects. */
  #sendMissed(
    { session, rows }: StoredSession,
    viewer: Viewer,
    lastEventId: number | null,
    response: ServerResponse,
  ): void {
    const isAnew = lastEventId === null || (this.#telling.besides !== undefined && session.tick === 0);
    const missed = isAnew ? [{ seq: rows.length - 1, session }] : this.#host.since(session.id, lastEventId);
    let seen = isAnew ? "" : `${lastEventId} active `;
    for (const step of missed) {
      const now = this.#seenOf(step.session, viewer);
      if (now !== seen) response.write(this.#eventOf(step.session, rows.slice(0, step.seq + 1), viewer));
      seen = now;
    }
  }

  #join(session: Session, viewer: Viewer, response: ServerResponse): void {
    let audience = this.#audiences.get(session.id);
    if (!audience) {
      audience = { byViewer: new Map(), leave: this.#host.watch(session.id, this.#tell) };
      this.#audiences.set(session.id, audience);
    }
    const { byViewer, leave } = audience;
    const watchers = byViewer.get(viewer) ?? { responses: new Set(), seen: this.#seenOf(session, viewer) };
    byViewer.set(viewer, watchers);
    watchers.responses.add(response);
    this.#count++;
    response.once("close", () => {
      this.#count--;
      watchers.responses.delete(response);
      if (watchers.responses.size === 0) byViewer.delete(viewer);
      if (byViewer.size > 0) return;
      leave();
      this.#audiences.delete(session.id);
    });
  }

  /** Sends a commit to all viewers for whom it changes something. */
  readonly #tell = (stored: StoredSession): void => {
    const { session, rows } = stored;
    for (const [viewer, watchers] of this.#audiences.get(session.id)?.byViewer ?? []) {
      const now = this.#seenOf(session, viewer);
      if (now === watchers.seen) continue;
      watchers.seen = now;
      const text = Buffer.from(this.#eventOf(session, rows, viewer));
      for (const response of watchers.responses) send(response, text);
    }
    if (session.status === "completed") this.#end(session.id);
  };

  #end(sessionId: string): void {
    for (const { responses } of this.#audiences.get(sessionId)?.byViewer.values() ?? []) {
      for (const response of responses) response.end();
    }
  }

  /** The id of an event is the sequence number in the log, as far as the viewer may know it: the tick while the session is active. */
  #eventOf(session: Session, rows: StoredSession["rows"], viewer: Viewer): string {
    const id = session.status === "active" ? viewFor(session, viewer).tick : rows.length - 1;
    const data = JSON.stringify(this.#telling.view(session, viewer, rows));
    return `id: ${id}\nevent: ${this.#telling.event}\ndata: ${data}\n\n`;
  }

  /** Identifies an event: the viewer's tick, the status of the session and the state outside the log. */
  #seenOf(session: Session, viewer: Viewer): string {
    return `${viewFor(session, viewer).tick} ${session.status} ${this.#telling.besides?.(session) ?? ""}`;
  }
}

function* responsesOf(audiences: ReadonlyMap<string, Audience>): Iterable<ServerResponse> {
  for (const { byViewer } of audiences.values()) for (const { responses } of byViewer.values()) yield* responses;
}

function send(response: ServerResponse, text: string | Buffer): void {
  if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  else response.write(text);
}
