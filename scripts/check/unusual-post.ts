import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Clock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import type { Exchange, Reply } from "./exchange.ts";

/** A POST as the client for other agents never sends it, but a slow or broken network does. */
interface UnusualPost {
  readonly url: string;
  readonly body: string;
  readonly limitMs: number;
  /** The number of pieces in which the body is sent, with a pause between them; 1 by default. */
  readonly pieces?: number;
  /** The pause before the reply is read; none by default. */
  readonly readAfterMs?: number;
  /** Closes the connection this time after the request was sent, without reading the reply. */
  readonly cutAfterMs?: number;
}

const PIECE_PAUSE_MS = 15;

/** Sends a POST on a separate connection. Resolves with the exchange in every case. */
export async function unusualPost(post: UnusualPost, clock: Clock): Promise<Exchange> {
  const startedMs = clock.monotonic();
  const reply: { head: IncomingMessage | null; body: string } = { head: null, body: "" };
  const fault = await send(post, reply, clock).then(
    () => null,
    (thrown) => messageOf(thrown),
  );
  const { url, body } = post;
  const durationMs = Math.round(clock.monotonic() - startedMs);
  return { from: "check", method: "POST", url, request: body, reply: replyOf(reply), fault, durationMs };
}

const replyOf = ({ head, body }: { readonly head: IncomingMessage | null; readonly body: string }): Reply | null =>
  head && { status: head.statusCode ?? 0, contentType: head.headers["content-type"] ?? "", body };

/** Sends the request and reads the reply into `reply`. Rejects if the reply is not complete within the limit. */
async function send(
  post: UnusualPost,
  reply: { head: IncomingMessage | null; body: string },
  clock: Clock,
): Promise<void> {
  const { url, body, limitMs, pieces = 1, readAfterMs = 0, cutAfterMs } = post;
  const bytes = Buffer.from(body);
  const headers = { "content-type": "application/json", "content-length": bytes.length };
  const request = (url.startsWith("https:") ? httpsRequest : httpRequest)(url, {
    method: "POST",
    headers,
    agent: false,
  });
  const done = Promise.withResolvers<void>();
  done.promise.catch(() => {}); // the connection may be closed before the request is sent
  const cancelLimit = clock.after(limitMs, () => request.destroy(new Error(`no complete reply within ${limitMs} ms`)));
  request.on("error", done.reject);
  request.on("response", (response) => {
    reply.head = response;
    response.setEncoding("utf8");
    response.on("error", done.reject);
    response.on("end", done.resolve);
    void clock.pause(readAfterMs).then(() => response.on("data", (text) => (reply.body += text)));
  });
  try {
    await sendPieces(request, bytes, pieces, clock);
    if (cutAfterMs === undefined) return await done.promise;
    await clock.pause(cutAfterMs);
  } finally {
    cancelLimit();
    request.destroy();
  }
}

async function sendPieces(
  request: ReturnType<typeof httpRequest>,
  bytes: Buffer,
  pieces: number,
  clock: Clock,
): Promise<void> {
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  request.setNoDelay(true);
  for (let from = 0; from < bytes.length && !request.destroyed; from += size) {
    request.write(bytes.subarray(from, from + size));
    if (pieces > 1) await clock.pause(PIECE_PAUSE_MS);
  }
  request.end();
}
