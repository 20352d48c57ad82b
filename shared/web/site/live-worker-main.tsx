import {
  type DocumentMessage,
  type FromWorker,
  LiveStreams,
  MAX_STREAMS,
  type ToWorker,
} from "#shared/web/transports/live-streams.ts";

/** A page without a message for this time is regarded as closed: it sends one every ten seconds. */
const LOST_MS = 35_000;

interface Page {
  readonly port: MessagePort;
  paths: readonly string[];
  heardAt: number;
  hasStream: boolean;
}

const pages = new Set<Page>();

const streamsOfPages = (): number => [...pages].filter(({ hasStream }) => hasStream).length;

const streams = new LiveStreams((message: DocumentMessage) => {
  for (const { port, paths } of pages) if (paths.includes(message.path)) port.postMessage(message);
}, streamsOfPages);

const followAll = (): void => streams.follow([...new Set([...pages].flatMap(({ paths }) => paths))]);

/**
 * The shared worker of the pages of a server. It follows each live document once for all tabs that show it, and limits the streams that pages open
 * themselves, so that they leave connections for other requests.
 */
addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  if (!port) return;
  const page: Page = { port, paths: [], heardAt: performance.now(), hasStream: false };
  port.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    const added = data.paths.filter((path) => !page.paths.includes(path));
    page.paths = data.paths;
    page.heardAt = performance.now();
    pages.add(page);
    page.hasStream &&= data.wantsStream;
    page.hasStream ||= data.wantsStream && streams.openCount() + streamsOfPages() < MAX_STREAMS;
    if (data.wantsStream) port.postMessage({ type: "stream", isAllowed: page.hasStream } satisfies FromWorker);
    followAll();
    for (const path of added) streams.resend(path);
  };
  port.start();
});

setInterval(() => {
  for (const page of pages) {
    if (page.heardAt >= performance.now() - LOST_MS) continue;
    pages.delete(page);
    page.hasStream = false;
    page.paths = []; // a page that was only suspended sends its paths again
  }
  followAll();
}, LOST_MS);
