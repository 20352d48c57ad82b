import type { ServerResponse } from "node:http";
import type { Viewer } from "#shared/games/game.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { EVENT_STREAM_HEADERS } from "#shared/rpc/stdio/event-stream.ts";
import type { Session } from "#shared/session/session.ts";
import type { SessionHost } from "../sessions/host.ts";
import type { Kept } from "../sessions/live-sessions.ts";
import { viewFor } from "../views/session-views.ts";
import { RestError } from "./errors.ts";

/** What is sent live of sessions to whoever watches them. */
export interface Streams {
  /** Server-Sent Events of one viewer as the session goes on, resumed behind the last event's id. */
  open(kept: Kept, viewer: Viewer, lastEventId: number | null, response: ServerResponse): void;
  /** Open event streams. */
  count(): number;
  /** Ends all streams; their clients come back with their last event id. */
  close(): void;
}

/** What one kind of stream tells: an event's name, and a session as a viewer of it may see it. */
export interface Telling {
  readonly event: string;
  /** `rows` are the log up to this session. */
  view(session: Session, viewer: Viewer, rows: Kept["rows"]): unknown;
  /** What the view shows besides the log before the first action. A change of it is an event too. */
  readonly besides?: (session: Session) => string;
}

/** All who watch one session; an event's text is made once for each kind of viewer. */
interface Audience {
  readonly byViewer: Map<Viewer, Watchers>;
  readonly leave: () => void;
}

interface Watchers {
  readonly responses: Set<ServerResponse>;
  /** What was last sent: the viewer's tick, the session's status and what the view shows besides the log. */
  seen: string;
}

const MAX_STREAMS = 10_000;
const HEARTBEAT_MS = 15_000;
/** A reader that is so far behind is cut off; it comes back with its last event id. */
const MAX_UNREAD_BYTES = 1024 * 1024;

export function createStreams(host: SessionHost, telling: Telling, clock: Clock): Streams {
  const audiences = new Map<string, Audience>();
  let streams = 0;

  const stopHeartbeat = clock.every(HEARTBEAT_MS, () => {
    for (const response of everyone(audiences)) send(response, ": still here\n\n");
  });

  /** An event's id is the log's sequence number, as far as the viewer may know it: while a session runs that is its tick. */
  const eventOf = (session: Session, rows: Kept["rows"], viewer: Viewer): string => {
    const id = session.status === "active" ? viewFor(session, viewer).tick : rows.length - 1;
    return `id: ${id}\nevent: ${telling.event}\ndata: ${JSON.stringify(telling.view(session, viewer, rows))}\n\n`;
  };

  const seenOf = (session: Session, viewer: Viewer): string =>
    `${viewFor(session, viewer).tick} ${session.status} ${telling.besides?.(session) ?? ""}`;

  const tell = (kept: Kept): void => {
    const { session, rows } = kept;
    for (const [viewer, watchers] of audiences.get(session.id)?.byViewer ?? []) {
      const now = seenOf(session, viewer);
      if (now === watchers.seen) continue;
      watchers.seen = now;
      const text = Buffer.from(eventOf(session, rows, viewer));
      for (const response of watchers.responses) send(response, text);
    }
    if (session.status === "completed") end(session.id);
  };

  const end = (sessionId: string): void => {
    for (const { responses } of audiences.get(sessionId)?.byViewer.values() ?? []) {
      for (const response of responses) response.end();
    }
  };

  const join = ({ session }: Kept, viewer: Viewer, response: ServerResponse): void => {
    let audience = audiences.get(session.id);
    if (!audience) {
      audience = { byViewer: new Map(), leave: host.watch(session.id, tell) };
      audiences.set(session.id, audience);
    }
    const { byViewer, leave } = audience;
    const watchers = byViewer.get(viewer) ?? { responses: new Set(), seen: seenOf(session, viewer) };
    byViewer.set(viewer, watchers);
    watchers.responses.add(response);
    streams++;
    response.once("close", () => {
      streams--;
      watchers.responses.delete(response);
      if (watchers.responses.size === 0) byViewer.delete(viewer);
      if (byViewer.size > 0) return;
      leave();
      audiences.delete(session.id);
    });
  };

  return {
    open(kept, viewer, lastEventId, response) {
      const { session, rows } = kept;
      if (response.closed) return; // the client left before it was its turn; it will not say so again
      if (streams >= MAX_STREAMS) throw new RestError("TOO_MANY_REQUESTS", `No more than ${MAX_STREAMS} event streams`);
      const last = rows.length - 1;
      if (session.status === "completed" && lastEventId !== null && lastEventId >= last) {
        response.writeHead(204).end(); // tells an EventSource not to come back
        return;
      }
      // Chunks would make several writes of each event; the end of the stream is the end of the connection.
      response.useChunkedEncodingByDefault = false;
      response.writeHead(200, EVENT_STREAM_HEADERS);
      if (response.req.method === "HEAD") {
        response.end();
        return;
      }
      response.flushHeaders();
      const isAnew = lastEventId === null || (telling.besides !== undefined && session.tick === 0);
      const missed = isAnew ? [{ seq: last, session }] : host.since(session.id, lastEventId);
      let seen = isAnew ? "" : `${lastEventId} active `;
      for (const step of missed) {
        const now = seenOf(step.session, viewer);
        if (now !== seen) response.write(eventOf(step.session, rows.slice(0, step.seq + 1), viewer));
        seen = now;
      }
      if (session.status === "completed") response.end();
      else join(kept, viewer, response);
    },
    count: () => streams,
    close() {
      stopHeartbeat();
      for (const sessionId of audiences.keys()) end(sessionId);
    },
  };
}

function* everyone(audiences: ReadonlyMap<string, Audience>): Iterable<ServerResponse> {
  for (const { byViewer } of audiences.values()) for (const { responses } of byViewer.values()) yield* responses;
}

function send(response: ServerResponse, text: string | Buffer): void {
  if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  else response.write(text);
}
