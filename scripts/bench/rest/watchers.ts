import { type Dispatcher, Pool } from "undici";
import { bearer, connectTo, registerAgent, sharedNow } from "./http.ts";

/** Report of a process with spectators of one session, each with a separate stream of Server-Sent Events: `URL COUNT`. */
export interface WatchersReport {
  /** The number of events that all spectators have received since the start. */
  readonly count: number;
  /** The number of spectators that have received the event of each tick of the current session. */
  readonly seenBy: readonly number[];
  /** The time of the last of these events, by tick, on the clock of `sharedNow`. */
  readonly lastAt: readonly number[];
}

/** The number of streams that are opened at the same time. A server's queue of new connections is short. */
const GROUP_SIZE = 100;

const [url = "", spectators = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
const { token } = await registerAgent(connectTo(url));
const pool = new Pool(url, { connections: Number(spectators), pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
let openStreams: Dispatcher.DispatchController[] = [];
let count = 0;
let seenBy: number[] = [];
let lastAt: number[] = [];

/** Opens the event stream of a session. Resolves when it is open. */
function watch(sessionId: string): Promise<void> {
  const [seen, last] = [seenBy, lastAt];
  let text = "";
  return new Promise((resolve, reject) => {
    pool.dispatch(
      { path: `/sessions/${sessionId}/events`, method: "GET", headers: bearer(token) },
      {
        onRequestStart: (controller) => void openStreams.push(controller),
        onResponseStart: (_controller, status) =>
          status === 200 ? resolve() : reject(new Error(`GET events: ${status}`)),
        onResponseData(_controller, chunk) {
          text += chunk.toString("latin1");
          for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
            countEvent(text, seen, last);
            text = text.slice(end + 2);
          }
        },
        onResponseEnd() {},
        onResponseError: (_controller, error) => reject(error), // has no effect after the stream is open
      },
    );
  });
}

function countEvent(event: string, seen: number[], last: number[]): void {
  if (!event.startsWith("id: ")) return;
  const tick = Number.parseInt(event.slice(4, 14), 10);
  count++;
  seen[tick] = (seen[tick] ?? 0) + 1;
  last[tick] = sharedNow();
}

async function watchAll(sessionId: string): Promise<void> {
  for (const stream of openStreams)
    if (!stream.aborted) stream.abort(new Error("the spectators watch another session"));
  [openStreams, seenBy, lastAt] = [[], [], []];
  for (let opened = 0; opened < Number(spectators); opened += GROUP_SIZE) {
    const groupSize = Math.min(GROUP_SIZE, Number(spectators) - opened);
    await Promise.all(Array.from({ length: groupSize }, () => watch(sessionId)));
  }
}

process.on("message", async (question: { watch?: string }) => {
  if (question.watch !== undefined) await watchAll(question.watch);
  process.send?.({ count, seenBy, lastAt } satisfies WatchersReport);
});
process.send?.({ type: "ready", url: "" });
