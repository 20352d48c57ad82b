import { useEffect, useState } from "preact/hooks";
import { CONNECTION_LOST } from "#shared/web/texts/league-texts.ts";
import { type DocumentMessage, type FromWorker, LiveStreams, type ToWorker } from "./live-streams.ts";

/** A listener of a live document. */
interface Listener {
  /** Called with the document as JSON. */
  onDocument(json: string): void;
  /** Called when the connection is lost or restored. */
  onConnection(isConnected: boolean): void;
}

/** The time between two messages to the worker that state what the page follows. */
const REPEAT_MS = 10_000;

/** The time after which a worker that has not answered does not allow a stream. */
const ANSWER_MS = 3_000;

/** The connection to the shared worker, or the streams of this page in a browser without shared workers; null before the first document. */
let streams: { follow(paths: readonly string[]): void } | null = null;
/** Whether this page wants to open a stream itself, and the function that receives the next answer of the worker. */
let wantsStream = false;
let answerStream: ((isAllowed: boolean) => void) | null = null;
const listeners = new Map<string, Set<Listener>>();

/**
 * Follows a live document until the returned function is called. The tabs of a browser share their streams in a worker, because a browser allows six
 * connections to a server. A browser without shared workers opens a stream for each page.
 */
function follow(path: string, listener: Listener): () => void {
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

/**
 * Asks whether this page may open a stream itself. Resolves with false if the pages of this browser have too many; the page then fetches its data repeatedly,
 * and asks again. A page that has one keeps it until `releaseStream`.
 */
export function requestStream(): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  wantsStream = true;
  answerStream = resolve;
  const timer = setTimeout(resolve, ANSWER_MS, false);
  followAll();
  return promise.finally(() => clearTimeout(timer));
}

/** Says that this page has closed the stream that it had opened itself. Another page may open one then. */
export function releaseStream(): void {
  if (!wantsStream) return;
  wantsStream = false;
  followAll();
}

function followAll(): void {
  streams ??= sharedStreams() ?? ownStreams();
  streams.follow([...listeners.keys()]);
}

/** The streams of this page. They need no permission. */
function ownStreams(): NonNullable<typeof streams> {
  const own = new LiveStreams(receive, () => (wantsStream ? 1 : 0));
  return {
    follow(paths) {
      own.follow(paths);
      answerStream?.(true);
    },
  };
}

/** Returns the streams of the shared worker; null if the browser allows none. If the worker fails, this page opens streams itself. */
function sharedStreams(): typeof streams {
  const script = document.documentElement.dataset.worker;
  if (typeof SharedWorker !== "function" || !script) return null;
  try {
    const worker = new SharedWorker(script, { type: "module", name: "live" });
    worker.port.onmessage = ({ data }: MessageEvent<FromWorker>) =>
      data.type === "stream" ? answerStream?.(data.isAllowed) : receive(data);
    const send = (paths: readonly string[]): void => worker.port.postMessage({ paths, wantsStream } satisfies ToWorker);
    const timer = setInterval(() => send([...listeners.keys()]), REPEAT_MS);
    worker.onerror = () => {
      clearInterval(timer);
      streams = ownStreams();
      followAll();
    };
    return { follow: send };
  } catch {
    return null;
  }
}

function receive(message: DocumentMessage): void {
  for (const listener of listeners.get(message.path) ?? []) {
    if (message.type === "document") listener.onDocument(message.json);
    else listener.onConnection(message.isConnected);
  }
}

interface Live<T> {
  /** The last state of the document; null before the first. */
  readonly document: T | null;
  /** The fault of the connection, for people; empty if there is none. */
  readonly problem: string;
}

const GONE = "This page no longer exists at the server. It shows the last known state.";

/**
 * Returns a live document of the server: the state that the page contains, and then each later one. `path` is the path
 * of the document, `first` its state in the page. A hidden tab holds no stream.
 */
export function useDocument<T>(path: string, first: T | null): Live<T> {
  const [state, setState] = useState<{ readonly path: string; readonly document: T | null }>({ path, document: first });
  const [isConnected, setConnected] = useState(true);
  useEffect(
    () =>
      whileVisible(() =>
        follow(path, {
          onDocument: (json) => setState({ path, document: JSON.parse(json) as T }),
          onConnection: setConnected,
        }),
      ),
    [path],
  );
  const current = state.path === path ? state.document : null;
  const isGone = state.path === path && state.document === null && first !== null;
  return { document: current, problem: isGone ? GONE : isConnected ? "" : CONNECTION_LOST };
}

/**
 * Calls `start` while the tab is visible, and the function that it returns when the tab is hidden. Browsers allow six streams for a host, and a hidden
 * tab needs none.
 */
export function whileVisible(start: () => () => void): () => void {
  let stop: (() => void) | null = null;
  const change = (): void => {
    if (document.hidden) {
      stop?.();
      stop = null;
    } else stop ??= start();
  };
  document.addEventListener("visibilitychange", change);
  addEventListener("pagehide", change);
  change();
  return () => {
    document.removeEventListener("visibilitychange", change);
    removeEventListener("pagehide", change);
    stop?.();
  };
}
