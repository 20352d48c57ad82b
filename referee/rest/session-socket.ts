import { z } from "zod";
import type { Viewer } from "#shared/games/game.ts";
import { parsedJson } from "#shared/lib/text.ts";
import type { UpgradeAnswer, UpgradeHandler } from "#shared/rpc/http/upgrade.ts";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import type { MessageSocket, SocketEvents } from "#shared/rpc/websocket/message-socket.ts";
import {
  checkSize,
  EventsQuery,
  errorFor,
  holderOf,
  keyOf,
  knownError,
  parseBody,
  parseQuery,
  restErrorOf,
  viewerOf,
} from "./requests.ts";
import { actorOf, type RestContext, submitBody } from "./rest-routes.ts";
import { socketClient, TRY_AGAIN_LATER } from "./streams.ts";

const PATH = /^\/sessions\/([^/]+)\/socket$/;
/** The largest number of actions of a WebSocket that wait for their replies. */
const MAX_PENDING = 100;

/** A frame: the body of `POST /sessions/:id/actions` with an id that the reply repeats, and an optional idempotency key. */
const Frame = z.looseObject({
  id: z.union([z.string().max(200), z.number()]),
  idempotency_key: z.unknown().optional(),
});

/** A WebSocket whose caller may read the session. */
interface Connection {
  readonly sessionId: string;
  readonly viewer: Viewer;
  readonly lastEventId: number | null;
  readonly http: HttpContext;
}

/** Opens `GET /sessions/:id/socket`, a WebSocket with the events of the session to the client and its actions to the server. */
export const sessionSocket =
  (rest: RestContext): UpgradeHandler =>
  async ({ path, query, http }): Promise<UpgradeAnswer | null> => {
    const [, sessionId] = PATH.exec(path) ?? [];
    if (sessionId === undefined) return null;
    try {
      const agentId = holderOf(rest.agents, http.bearer);
      await rest.limits.agent(agentId, http.remoteAddress);
      const { viewer } = viewerOf(rest.host, sessionId, agentId);
      const given = { last_event_id: query.get("last_event_id") ?? undefined };
      const { last_event_id: lastEventId = null } = parseQuery(EventsQuery, given);
      rest.streams.checkLimit();
      return { accept: (socket) => connect(rest, { sessionId, viewer, lastEventId, http }, socket) };
    } catch (thrown) {
      const known = knownError(thrown);
      if (known) return known;
      throw thrown;
    }
  };

function connect(rest: RestContext, connection: Connection, socket: MessageSocket): SocketEvents {
  const { sessionId, viewer, lastEventId } = connection;
  const client = socketClient(socket);
  const stored = rest.host.read(sessionId);
  if (stored) rest.streams.connect(stored, viewer, lastEventId, client);
  else client.end("over");
  /** Actions are made in the order of their frames. */
  let last = Promise.resolve();
  return {
    onMessage(text) {
      if (client.pending >= MAX_PENDING) return socket.close(TRY_AGAIN_LATER, "too many actions without a reply");
      const previous = last;
      last = client.reply(previous.then(() => replyTo(rest, connection, text)));
    },
    onClose: client.closed,
  };
}

/** Makes the action in a frame. Resolves with the reply: the status and body that `POST /sessions/:id/actions` answers, and the id of the frame. */
async function replyTo(rest: RestContext, { sessionId, http }: Connection, text: string): Promise<string> {
  const path = `/sessions/${sessionId}/actions`;
  const id = JSON.stringify(idOf(text));
  let agent: string | null = null;
  try {
    agent = holderOf(rest.agents, http.bearer);
    await rest.limits.agent(agent, http.remoteAddress);
    const actor = actorOf(rest, sessionId, agent);
    checkSize(text);
    const { id: _, idempotency_key, ...fields } = parseBody(Frame, text);
    const body = JSON.stringify(fields);
    const keyed = { agentId: agent, ...keyOf("idempotency_key", idempotency_key), request: `POST ${path}\n${body}` };
    const replied = await submitBody(rest, actor, body, keyed);
    if (!replied.ok) throw restErrorOf(replied.error);
    return `{"id":${id},"status":${replied.value.status},"body":${replied.value.body}}`;
  } catch (thrown) {
    const { remoteAddress } = http;
    const error = errorFor(thrown, { remoteAddress, agent, method: "POST", path }, rest);
    const body = JSON.stringify({ error: { code: error.code, message: error.message } });
    return `{"id":${id},"status":${error.status},"body":${body}}`;
  }
}

/** Returns the id of a frame; null if it has none. */
function idOf(text: string): string | number | null {
  const parsed = Frame.safeParse(parsedJson(text));
  return parsed.success ? parsed.data.id : null;
}
