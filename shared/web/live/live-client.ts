import type { FromWorker, ToWorker } from "./live-messages.ts";
import { LiveStreams } from "./live-streams.ts";

/** A listener of a live document. */
export interface Listener {
  /** Called with the document as JSON. */
  onDocument(json: string): void;
  /** Called when the connection is lost or restored. */
  onConnection(isConnected: boolean): void;
}

const PING_MS = 10_000;

let port: MessagePort | null = null;
let own: LiveStreams | null = null;
const listeners = new Map<string, Set<Listener>>();

/**
 * Follows a live document until the returned function is called. The tabs of a browser share their streams in a worker, because a browser allows six
 * connections to a server. A browser without shared workers opens a stream for each page.
 */
export function follow(path: string, listener: Listener): () => void {
  const found = listeners.get(path) ?? new Set();
  found.add(listener);
  listeners.set(path, found);
  if (found.size === 1) post({ type: "open", path });
  return () => {
    found.delete(listener);
    if (found.size > 0) return;
    listeners.delete(path);
    post({ type: "close", path });
  };
}

function post(message: ToWorker): void {
  connect();
  if (port) port.postMessage(message);
  else if (message.type === "open") own?.open(message.path);
  else if (message.type === "close") own?.close(message.path);
}

function connect(): void {
  if (port || own) return;
  const script = document.documentElement.dataset.worker;
  if (typeof SharedWorker === "function" && script) {
    try {
      port = new SharedWorker(script, { type: "module", name: "live" }).port;
      port.onmessage = ({ data }: MessageEvent<FromWorker>) => receive(data);
      port.start();
      setInterval(() => port?.postMessage({ type: "ping" } satisfies ToWorker), PING_MS);
      return;
    } catch {
      // The browser allows no shared worker here.
    }
  }
  own = new LiveStreams(receive);
}

function receive(message: FromWorker): void {
  for (const listener of listeners.get(message.path) ?? []) {
    if (message.type === "document") listener.onDocument(message.json);
    else listener.onConnection(message.isConnected);
  }
}
