import { parsedJson } from "#shared/lib/text.ts";
import type { UpgradeHandler } from "#shared/rpc/http/upgrade.ts";
import type { MessageSocket } from "#shared/rpc/websocket/message-socket.ts";
import { type InboxContext, inboxAt, rejectionOf } from "./access.ts";

/** Codes of closed WebSockets (RFC 6455, section 7.4; codes from 4000 are free for applications). */
const INVALID_DATA = 1007;
const RESTART = 1012;
const REPLACED = 4409;

/** The time after which the wait for requests is renewed. The WebSocket itself is checked with pings. */
const WAIT_MS = 60_000;

const MOVING = { status: 503, code: "UNAVAILABLE", message: "the inbox is at another manager: connect again" };

const UNKNOWN = { status: 503, code: "UNAVAILABLE", message: "the database does not answer: connect again" };

/** Accepts a WebSocket at the URL of an inbox: one JSON-RPC message a frame, requests to the player and responses from it. */
export const inboxSocket =
  (context: InboxContext): UpgradeHandler =>
  async ({ path, query, http }) => {
    const inbox = inboxAt(path);
    if (inbox?.face !== "poll") return null;
    const { playerId } = inbox;
    if (context.homes.of(playerId) !== "here") return MOVING;
    const rejection = await rejectionOf(context, playerId, http);
    if (rejection === "unknown") return UNKNOWN;
    if (context.homes.of(playerId) !== "here") return MOVING; // meanwhile
    if (rejection) return rejection;
    return {
      accept(socket) {
        const closed = new AbortController();
        void sendRequests(context, playerId, Number(query.get("after") ?? 0) || 0, socket, closed.signal);
        return {
          onMessage: (text) => receive(context, playerId, text, socket),
          onClose: () => closed.abort(),
        };
      },
    };
  };

/** Sends the open requests above `after` and each later one, until the WebSocket closes or a newer poll replaces it. */
async function sendRequests(
  { inboxes }: InboxContext,
  playerId: string,
  after: number,
  socket: MessageSocket,
  signal: AbortSignal,
): Promise<void> {
  let last = after;
  while (!signal.aborted) {
    const polled = await inboxes.poll(playerId, { after: last, waitMs: WAIT_MS, signal });
    if (polled === "replaced") return socket.close(REPLACED, "a newer connection to this inbox has replaced this one");
    if (polled === "closed") return socket.close(RESTART, "the inbox is closed: connect again");
    for (const request of polled.requests) socket.send(request);
    last = polled.next;
  }
}

function receive({ inboxes }: InboxContext, playerId: string, text: string, socket: MessageSocket): void {
  const message = parsedJson(text);
  if (message === undefined) socket.close(INVALID_DATA, "send one JSON-RPC response a frame");
  else inboxes.answer(playerId, Array.isArray(message) ? message : [message]);
}
