/** The number of streams that are open at the same time, of the six connections that a browser allows. Further documents are fetched repeatedly. */
export const MAX_STREAMS = 4;
/** The time between two requests for a document without a stream. */
const POLL_MS = 1_000;
/** The time after which a stream that the server has refused is opened again. */
const RETRY_MS = 2_000;
/** The server sends an event at least every 5 s. After this time without one the connection is regarded as lost. */
const SILENCE_MS = 12_000;
/** The time between two checks for silent streams. */
const CHECK_MS = 2_000;
/** The JSON of a document that does not exist. */
const GONE = "null";

/** A live document that a page follows. */
interface Stream {
  /** null while the document is fetched repeatedly. */
  source: EventSource | null;
  /** The next request or attempt to connect. */
  timer: ReturnType<typeof setTimeout> | null;
  /** The monotonic time of the last event. */
  heardAt: number;
  isConnected: boolean;
  /** The last document as JSON; empty before the first. */
  json: string;
}

/** The live documents of the pages of a browser. */
export class LiveStreams {
  readonly #streams = new Map<string, Stream>();
  readonly #send: (message: DocumentMessage) => void;
  readonly #otherStreams: () => number;

  /** `otherStreams` returns the number of streams that pages have open themselves. */
  constructor(send: (message: DocumentMessage) => void, otherStreams = () => 0) {
    this.#send = send;
    this.#otherStreams = otherStreams;
    // After a sleep of the machine a connection may be dead without an error.
    setInterval(() => {
      const silentSince = performance.now() - SILENCE_MS;
      for (const [path, stream] of this.#streams) {
        if (stream.source && stream.heardAt < silentSince) this.#restart(path, stream);
      }
    }, CHECK_MS);
  }

  /** Follows these documents and no others. */
  follow(paths: readonly string[]): void {
    for (const [path, stream] of this.#streams) {
      if (paths.includes(path)) continue;
      this.#stop(stream);
      this.#streams.delete(path);
    }
    for (const path of paths) {
      if (this.#streams.has(path)) continue;
      const stream: Stream = { source: null, timer: null, heardAt: performance.now(), isConnected: true, json: "" };
      this.#streams.set(path, stream);
      this.#start(path, stream);
    }
    // A document that is fetched repeatedly may have a stream now.
    for (const [path, stream] of this.#streams) {
      if (!stream.source && this.#hasRoom()) this.#restart(path, stream);
    }
  }

  /** Sends the last state of a document again, for a page that has been opened. */
  resend(path: string): void {
    const stream = this.#streams.get(path);
    if (!stream) return;
    if (stream.json !== "") this.#send({ type: "document", path, json: stream.json });
    this.#send({ type: "connection", path, isConnected: stream.isConnected });
  }

  #hasRoom(): boolean {
    return this.openCount() + this.#otherStreams() < MAX_STREAMS;
  }

  /** Returns the number of open streams. */
  openCount(): number {
    return [...this.#streams.values()].filter(({ source }) => source !== null).length;
  }

  #start(path: string, stream: Stream): void {
    if (!this.#hasRoom()) return void this.#poll(path, stream);
    const source = new EventSource(path);
    stream.source = source;
    stream.heardAt = performance.now();
    const hear = (): void => {
      stream.heardAt = performance.now();
      this.#connected(path, stream, true);
    };
    source.onopen = hear;
    source.addEventListener("alive", hear);
    source.addEventListener("document", ({ data }: MessageEvent<string>) => {
      hear();
      this.#show(path, stream, data);
    });
    source.onerror = () => {
      this.#connected(path, stream, false);
      // After a response that is no stream the browser does not connect again. The document may no longer exist.
      if (source.readyState !== EventSource.CLOSED) return;
      void fetch(path, { method: "HEAD" }).then(
        ({ status }) => status === 404 && this.#show(path, stream, GONE),
        () => {},
      );
      this.#later(stream, RETRY_MS, () => this.#restart(path, stream));
    };
  }

  async #poll(path: string, stream: Stream): Promise<void> {
    try {
      const response = await fetch(path, { headers: { accept: "application/json" } });
      if (!response.ok && response.status !== 404) throw new Error(String(response.status));
      const json = response.ok ? await response.text() : GONE;
      if (this.#streams.get(path) !== stream || stream.source) return;
      this.#connected(path, stream, true);
      this.#show(path, stream, json);
    } catch {
      this.#connected(path, stream, false);
    }
    if (this.#streams.get(path) === stream && !stream.source)
      this.#later(stream, POLL_MS, () => void this.#poll(path, stream));
  }

  #show(path: string, stream: Stream, json: string): void {
    if (json === stream.json) return;
    stream.json = json;
    this.#send({ type: "document", path, json });
  }

  #connected(path: string, stream: Stream, isConnected: boolean): void {
    if (stream.isConnected === isConnected) return;
    stream.isConnected = isConnected;
    this.#send({ type: "connection", path, isConnected });
  }

  #restart(path: string, stream: Stream): void {
    this.#stop(stream);
    this.#start(path, stream);
  }

  #stop(stream: Stream): void {
    stream.source?.close();
    stream.source = null;
    if (stream.timer) clearTimeout(stream.timer);
    stream.timer = null;
  }

  #later(stream: Stream, ms: number, run: () => void): void {
    if (stream.timer) clearTimeout(stream.timer);
    stream.timer = setTimeout(run, ms);
  }
}

/**
 * A message of a page to the shared worker: the paths of all documents that the page follows. A page repeats it, so that the worker knows that the page
 * is open; the worker regards a silent page as closed.
 */
export interface ToWorker {
  readonly paths: readonly string[];
  /** Whether the page wants to open a stream itself: the stream of a game, which needs the token of a seat. */
  readonly wantsStream: boolean;
}

/** A message about a live document. `json` is "null" for a document that no longer exists. */
export type DocumentMessage =
  | { readonly type: "document"; readonly path: string; readonly json: string }
  | { readonly type: "connection"; readonly path: string; readonly isConnected: boolean };

/** A message to a page: about a live document, or whether the page may open a stream itself. */
export type FromWorker = DocumentMessage | { readonly type: "stream"; readonly isAllowed: boolean };
