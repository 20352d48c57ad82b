import type { FromWorker, ToWorker } from "./live-messages.ts";
import { LiveStreams } from "./live-streams.ts";

/** A listener of a live document. */
export interface Listener {
  /** Called with the document as JSON. */
  onDocument(json: string): void;
  /** Called when the connection is lost or restored. */
  onConnection(isConnected: boolean): void;
}

/** The time between two messages to the worker that state what the page follows. */
const REPEAT_MS = 10_000;

/** The connection to the shared worker, or the streams of this page in a browser without shared workers; null before the first document. */
let streams: { follow(paths: readonly string[]): void } | null = null;
const listeners = new Map<string, Set<Listener>>();

/**
 * Follows a live document until the returned function is called. The tabs of a browser share their streams in a worker, because a browser allows six
 * connections to a server. A browser without shared workers opens a stream for each page.
 */
export function follow(path: string, listener: Listener): () => void {
  const found = listeners.get(path) ?? new Set();
  found.add(listener);
  listeners.set(path, found);
  if (found.size === 1) followAll();
  return () => {
    found.delete(listener);
    if (found.size > 0) return;
    listeners.delete(path);
    followAll();
  };
}

function followAll(): void {
  streams ??= sharedStreams() ?? new LiveStreams(receive);
  streams.follow([...listeners.keys()]);
}

/** Returns the streams of the shared worker; null if the browser allows none. If the worker fails, this page opens streams itself. */
function sharedStreams(): typeof streams {
  const script = document.documentElement.dataset.worker;
  if (typeof SharedWorker !== "function" || !script) return null;
  try {
    const worker = new SharedWorker(script, { type: "module", name: "live" });
    worker.port.onmessage = ({ data }: MessageEvent<FromWorker>) => receive(data);
    const send = (paths: readonly string[]): void => worker.port.postMessage({ paths } satisfies ToWorker);
    const timer = setInterval(() => send([...listeners.keys()]), REPEAT_MS);
    worker.onerror = () => {
      clearInterval(timer);
      streams = new LiveStreams(receive);
      followAll();
    };
    return { follow: send };
  } catch {
    return null;
  }
}

function receive(message: FromWorker): void {
  for (const listener of listeners.get(message.path) ?? []) {
    if (message.type === "document") listener.onDocument(message.json);
    else listener.onConnection(message.isConnected);
  }
}
