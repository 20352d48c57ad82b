import { type Dispatcher, Pool } from "undici";
import { bearer, connectTo, registerAgent, sharedNow } from "./http.ts";

/** Spectators of one session, each with a stream of Server-Sent Events of its own, in one process: `URL COUNT`. */
export interface WatchersTold {
  /** Events that arrived since the start, at all spectators together. */
  readonly count: number;
  /** How many spectators have had the event of each tick of the session that is watched now, and when the last one had it. */
  readonly seenBy: readonly number[];
  readonly lastAt: readonly number[];
}

/** So many streams are opened at a time: a server's queue of new connections is short. */
const AT_ONCE = 100;

const [url = "", spectators = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
const { token } = await registerAgent(connectTo(url));
const pool = new Pool(url, { connections: Number(spectators), pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
let open: Dispatcher.DispatchController[] = [];
let count = 0;
let seenBy: number[] = [];
let lastAt: number[] = [];

/** Resolves when the stream is open. */
function watch(sessionId: string): Promise<void> {
  const [seen, last] = [seenBy, lastAt];
  let text = "";
  return new Promise((resolve, reject) => {
    pool.dispatch(
      { path: `/sessions/${sessionId}/events`, method: "GET", headers: bearer(token) },
      {
        onRequestStart: (controller) => void open.push(controller),
        onResponseStart: (_controller, status) =>
          status === 200 ? resolve() : reject(new Error(`GET events: ${status}`)),
        onResponseData(_controller, chunk) {
          text += chunk.toString("latin1");
          for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
            take(text, seen, last);
            text = text.slice(end + 2);
          }
        },
        onResponseEnd() {},
        onResponseError: (_controller, error) => reject(error), // of no effect once it is open: we have left
      },
    );
  });
}

function take(event: string, seen: number[], last: number[]): void {
  if (!event.startsWith("id: ")) return;
  const tick = Number.parseInt(event.slice(4, 14), 10);
  count++;
  seen[tick] = (seen[tick] ?? 0) + 1;
  last[tick] = sharedNow();
}

async function watchAll(sessionId: string): Promise<void> {
  for (const stream of open) if (!stream.aborted) stream.abort(new Error("watches another session"));
  [open, seenBy, lastAt] = [[], [], []];
  for (let opened = 0; opened < Number(spectators); opened += AT_ONCE) {
    const wanted = Math.min(AT_ONCE, Number(spectators) - opened);
    await Promise.all(Array.from({ length: wanted }, () => watch(sessionId)));
  }
}

process.on("message", async (question: { watch?: string }) => {
  if (question.watch !== undefined) await watchAll(question.watch);
  process.send?.({ count, seenBy, lastAt } satisfies WatchersTold);
});
process.send?.({ type: "ready", url: "" });
