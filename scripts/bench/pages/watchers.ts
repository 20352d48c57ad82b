import { type Dispatcher, Pool } from "undici";

/** A process with the event streams of open pages: `URL COUNT LEAGUE`. The message `true` opens them, `false` closes them; the answer is the number of events so far. */
const [url = "", count = "", league = ""] = process.argv.slice(2);
/** The pages of a league, each as often as people open it. */
const PAGES = ["standings", "standings", "", "crosstable", "schedule"];

process.on("disconnect", () => process.exit());
const pool = new Pool(url, { connections: Number(count), pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
let open: Dispatcher.DispatchController[] = [];
let events = 0;

/** Opens the stream of a page. Resolves when it has sent its document. */
function watch(page: string): Promise<void> {
  const path = `/api/leagues/${league}${page === "" ? "" : `/${page}`}`;
  return new Promise((resolve, reject) => {
    pool.dispatch(
      { path, method: "GET", headers: { accept: "text/event-stream" } },
      {
        onRequestStart: (controller) => void open.push(controller),
        onResponseStart(_controller, status) {
          if (status !== 200) reject(new Error(`GET ${path}: ${status}`));
        },
        onResponseData(_controller, chunk) {
          if (chunk.includes("event: document")) events++;
          resolve();
        },
        onResponseEnd() {},
        onResponseError: (_controller, error) => reject(error), // has no effect after the stream is open
      },
    );
  });
}

process.on("message", async (isOpen: boolean) => {
  for (const stream of open) if (!stream.aborted) stream.abort(new Error("the page is closed"));
  open = [];
  if (isOpen)
    await Promise.all(Array.from({ length: Number(count) }, (_, index) => watch(PAGES[index % PAGES.length] ?? "")));
  process.send?.({ events });
});
process.send?.({ type: "ready", url: "" });
