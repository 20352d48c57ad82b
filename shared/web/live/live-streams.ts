import type { FromWorker } from "./live-messages.ts";

/** The number of streams that are open at the same time, of the six connections that a browser allows. Further documents are fetched repeatedly. */
const MAX_STREAMS = 4;
const POLL_MS = 1_000;
const RETRY_MS = 2_000;
/** The server sends an event at least every 5 s. After this time without one the connection is regarded as lost. */
const SILENCE_MS = 12_000;
const CHECK_MS = 2_000;

interface Stream {
  source: EventSource | null;
  timer: ReturnType<typeof setTimeout> | null;
  heardAt: number;
  isConnected: boolean;
  /** The last document as JSON; empty before the first. */
  json: string;
}

/** The live documents of the pages of a browser. */
export class LiveStreams {
  readonly #streams = new Map<string, Stream>();
  readonly #send: (message: FromWorker) => void;

  constructor(send: (message: FromWorker) => void) {
    this.#send = send;
    // After a sleep of the machine a connection may be dead without an error.
    setInterval(() => {
      const silentSince = performance.now() - SILENCE_MS;
      for (const [path, stream] of this.#streams) {
        if (stream.source && stream.heardAt < silentSince) this.#restart(path, stream);
      }
    }, CHECK_MS);
  }

  /** Follows a document. If it is followed already, sends its last state again for the page that has been opened. */
  open(path: string): void {
    const known = this.#streams.get(path);
    if (known) {
      if (known.json !== "") this.#send({ type: "document", path, json: known.json });
      this.#send({ type: "connection", path, isConnected: known.isConnected });
      return;
    }
    const stream: Stream = { source: null, timer: null, heardAt: performance.now(), isConnected: true, json: "" };
    this.#streams.set(path, stream);
    this.#start(path, stream);
  }

  close(path: string): void {
    const stream = this.#streams.get(path);
    if (!stream) return;
    this.#stop(stream);
    this.#streams.delete(path);
    // A document that is fetched repeatedly may have a stream now.
    const waiting = [...this.#streams].find(([, { source }]) => source === null);
    if (waiting) this.#restart(...waiting);
  }

  #start(path: string, stream: Stream): void {
    const open = [...this.#streams.values()].filter(({ source }) => source !== null).length;
    if (open >= MAX_STREAMS) return void this.#poll(path, stream);
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
      // After a response that is no stream the browser does not connect again.
      if (source.readyState === EventSource.CLOSED) this.#later(stream, RETRY_MS, () => this.#restart(path, stream));
    };
  }

  async #poll(path: string, stream: Stream): Promise<void> {
    try {
      const response = await fetch(path, { headers: { accept: "application/json" } });
      if (!response.ok) throw new Error(String(response.status));
      const json = await response.text();
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
