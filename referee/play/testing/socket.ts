import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import type { TestHost } from "../../rest/testing/host.ts";
import type { watchStream } from "./play.ts";

/** A WebSocket of a session, read like an event stream. */
interface WatchedSocket extends Pick<Awaited<ReturnType<typeof watchStream>>, "next" | "raw" | "close"> {
  /** Sends a frame. */
  send(frame: object): void;
  /** Resolves with the first reply to a frame, or null when the WebSocket has ended. */
  reply(): Promise<string | null>;
}

/** The text of a refused WebSocket. */
async function refusal(response: IncomingMessage): Promise<string> {
  let text = `${response.statusCode} `;
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return text;
}

/**
 * Opens a WebSocket. `raw` returns the received frames, each after the id of its event as in an event stream; of a refused WebSocket the status
 * and the body.
 */
export async function watchSocket(
  { url }: Pick<TestHost, "url">,
  path: string,
  token: string | null,
): Promise<WatchedSocket> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(url.replace("http:", "ws:") + path, [], {
    perMessageDeflate: false,
    maxPayload: 1_000_000,
    headers,
  });
  const texts: string[] = [];
  const events: { readonly id: string; readonly event: string; readonly data: unknown }[] = [];
  const replies: string[] = [];
  let isClosed = false;
  let changed = Promise.withResolvers<void>();
  const change = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  socket.on("message", (data: Buffer) => {
    const text = data.toString("utf8");
    const { event, event_id, data: value } = JSON.parse(text);
    if (event === undefined) replies.push(text);
    else events.push({ id: String(event_id), event, data: value });
    texts.push(event === undefined ? text : `id: ${event_id}\n${text}`);
    change();
  });
  socket.on("close", () => {
    isClosed = true;
    change();
  });
  socket.on("error", () => {}); // a socket that is closed before it is open
  const refused = once(socket, "unexpected-response").then(async ([, response]) => {
    texts.push(await refusal(response as IncomingMessage));
    isClosed = true;
    socket.terminate();
  });
  await Promise.race([once(socket, "open"), refused]);
  const first = async <T>(values: T[]): Promise<T | null> => {
    for (;;) {
      const value = values.shift();
      if (value !== undefined) return value;
      if (isClosed) return null;
      await changed.promise;
    }
  };
  return {
    next: () => first(events),
    raw: () => texts.join("\n\n"),
    close: () => socket.terminate(),
    send: (frame) => socket.send(JSON.stringify(frame)),
    reply: () => first(replies),
  };
}
