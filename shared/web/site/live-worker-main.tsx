import type { FromWorker, ToWorker } from "../live/live-messages.ts";
import { LiveStreams } from "../live/live-streams.ts";

/** A page without a message for this time is regarded as closed: it sends one every ten seconds. */
const LOST_MS = 35_000;

interface Page {
  readonly port: MessagePort;
  readonly paths: Set<string>;
  heardAt: number;
}

const pages = new Set<Page>();
const readersOf = (path: string): Page[] => [...pages].filter(({ paths }) => paths.has(path));

const streams = new LiveStreams((message: FromWorker) => {
  for (const { port } of readersOf(message.path)) port.postMessage(message);
});

function close(page: Page, path: string): void {
  page.paths.delete(path);
  if (readersOf(path).length === 0) streams.close(path);
}

/** The shared worker of the pages of a server: follows each live document once for all tabs that show it. */
addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  if (!port) return;
  const page: Page = { port, paths: new Set(), heardAt: performance.now() };
  pages.add(page);
  port.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    page.heardAt = performance.now();
    pages.add(page);
    if (data.type === "open") {
      page.paths.add(data.path);
      streams.open(data.path);
    } else if (data.type === "close") close(page, data.path);
  };
  port.start();
});

setInterval(() => {
  for (const page of pages) {
    if (page.heardAt >= performance.now() - LOST_MS) continue;
    for (const path of [...page.paths]) close(page, path);
    pages.delete(page);
  }
}, LOST_MS);
