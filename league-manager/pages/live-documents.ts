import type { ServerResponse } from "node:http";
import type { Cancel, Clock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { isLoopback, networkOf } from "#shared/protocol/addresses.ts";
import { EVENT_STREAM_HEADERS } from "#shared/rpc/http/event-stream.ts";
import { remoteAddressOf } from "#shared/rpc/http/request.ts";

/** A document that is sent to its readers after each change. */
interface LiveDocument {
  /** Identifies the document: its path with its query. */
  readonly key: string;
  /** Returns the document, or null if it no longer exists. */
  read(): object | null | Promise<object | null>;
  /** Called for the first reader. Calls `changed` after each change. Returns a function that is called when the last reader has left. */
  watch(changed: () => void): () => void;
}

interface LiveOptions {
  readonly clock: Clock;
  readonly onError: (thrown: unknown) => void;
  readonly maxReaders?: number;
  readonly maxReadersOfNetwork?: number;
}

interface DocumentReader {
  readonly response: ServerResponse;
  readonly network: string | null;
  /** Whether the buffers of the connection are full. The reader receives the current document when they are empty. */
  isFull: boolean;
  /** The id of the state that the reader has. */
  id: string | undefined;
}

/** A document with its readers. */
interface Feed {
  readonly document: LiveDocument;
  readonly readers: Set<DocumentReader>;
  /** The current state: its id, a hash of the document, and its event; empty before it was read. */
  id: string;
  event: string;
  /** The monotonic time before which the document is not read again. */
  nextAtMs: number;
  /** `waiting`: a timer will read the document. `changed`: it has changed while it was read. */
  state: "idle" | "waiting" | "reading" | "changed";
  end: () => void;
}

const MAX_READERS = 5_000;
const MAX_READERS_OF_NETWORK = 500;
const HEARTBEAT_MS = 5_000;
/** The shortest time between two states of a document. */
const INTERVAL_MS = 150;
/** All documents together take at most this part of the manager's time in the long run. Then they are sent less often. */
const MAX_SHARE = 0.01;
/** The time that documents may take at once, e.g. for 200 different pages that show the same result, before `MAX_SHARE` limits them. */
const BURST_MS = 250;
/** The longest time for which documents wait because of their share of the time, e.g. after reads of a database that did not answer. */
const MAX_WAIT_MS = 5_000;

/** The time since the start of a turn. It always changes, so a document in which nothing else has changed is not sent again. */
const RUNNING_TIME = /"elapsed_ms":\d+/g;

/** Documents as streams of server-sent events. Each event has the complete document, so a reader that reconnects has missed nothing. */
export class LiveDocuments {
  readonly #options: Required<LiveOptions>;
  readonly #feeds = new Map<string, Feed>();
  readonly #readers = new Set<DocumentReader>();
  readonly #stopHeartbeat: Cancel;
  /** The monotonic time until which the documents have used their share of the time. */
  #paidUntilMs = 0;

  constructor(options: LiveOptions) {
    this.#options = { maxReaders: MAX_READERS, maxReadersOfNetwork: MAX_READERS_OF_NETWORK, ...options };
    this.#stopHeartbeat = options.clock.every(HEARTBEAT_MS, () => {
      for (const reader of this.#readers) write(reader, "event: alive\ndata:\n\n");
    });
  }

  /** Sends a document, and sends it again after each change. Returns false if there are too many readers, in total or of the reader's network. */
  open(document: LiveDocument, response: ServerResponse): boolean {
    const address = remoteAddressOf(response.req);
    const network = isLoopback(address) ? null : networkOf(address);
    if (!this.#hasCapacity(network)) return false;
    response.useChunkedEncodingByDefault = false; // each event is one write, and the end of the connection ends the stream
    response.writeHead(200, EVENT_STREAM_HEADERS).flushHeaders();
    const feed = this.#feedOf(document);
    const reader: DocumentReader = {
      response,
      network,
      isFull: false,
      id: response.req.headers["last-event-id"]?.toString(),
    };
    feed.readers.add(reader);
    this.#readers.add(reader);
    response.once("close", () => this.#leave(feed, reader));
    response.on("drain", () => {
      reader.isFull = false;
      send(reader, feed);
    });
    send(reader, feed);
    this.#change(feed);
    return true;
  }

  /** Whether a document has readers. */
  has(key: string): boolean {
    return this.#feeds.has(key);
  }

  /** Ends all streams. */
  close(): void {
    this.#stopHeartbeat();
    for (const { end } of this.#feeds.values()) end();
    this.#feeds.clear();
    for (const { response } of this.#readers) response.end();
  }

  #hasCapacity(network: string | null): boolean {
    const { maxReaders, maxReadersOfNetwork } = this.#options;
    if (this.#readers.size >= maxReaders) return false;
    if (network === null) return true;
    return [...this.#readers].filter((reader) => reader.network === network).length < maxReadersOfNetwork;
  }

  #feedOf(document: LiveDocument): Feed {
    const existing = this.#feeds.get(document.key);
    if (existing) return existing;
    const feed: Feed = {
      document,
      readers: new Set<DocumentReader>(),
      id: "",
      event: "",
      nextAtMs: 0,
      state: "idle",
      end: () => {},
    };
    this.#feeds.set(document.key, feed);
    feed.end = document.watch(() => this.#change(feed));
    return feed;
  }

  #leave(feed: Feed, reader: DocumentReader): void {
    this.#readers.delete(reader);
    feed.readers.delete(reader);
    if (feed.readers.size > 0 || this.#feeds.get(feed.document.key) !== feed) return;
    this.#feeds.delete(feed.document.key);
    feed.end();
  }

  #change(feed: Feed): void {
    if (feed.state === "idle") this.#readLater(feed);
    else if (feed.state === "reading") feed.state = "changed";
  }

  #readLater(feed: Feed): void {
    const { clock } = this.#options;
    feed.state = "waiting";
    const atMs = Math.max(feed.nextAtMs, this.#paidUntilMs - BURST_MS / MAX_SHARE);
    clock.after(Math.max(0, atMs - clock.monotonic()), () => {
      // Other documents may have used the time meanwhile.
      if (this.#paidUntilMs - BURST_MS / MAX_SHARE > clock.monotonic()) this.#readLater(feed);
      else void this.#publish(feed);
    });
  }

  /** Reads a document and sends it to its readers. */
  async #publish(feed: Feed): Promise<void> {
    if (feed.readers.size === 0) return;
    const { clock, onError } = this.#options;
    const startMs = clock.monotonic();
    feed.state = "reading";
    try {
      const body = JSON.stringify(await feed.document.read());
      feed.id = sha256Hex(body.replaceAll(RUNNING_TIME, "")).slice(0, 16);
      feed.event = `id: ${feed.id}\nevent: document\ndata: ${body}\n\n`;
      for (const reader of feed.readers) send(reader, feed);
    } catch (thrown) {
      onError(thrown);
    }
    const nowMs = clock.monotonic();
    const paidUntilMs = Math.max(this.#paidUntilMs, startMs) + (nowMs - startMs) / MAX_SHARE;
    this.#paidUntilMs = Math.min(paidUntilMs, nowMs + BURST_MS / MAX_SHARE + MAX_WAIT_MS);
    feed.nextAtMs = nowMs + INTERVAL_MS;
    const isChanged = (feed.state as Feed["state"]) === "changed";
    feed.state = "idle";
    if (isChanged) this.#readLater(feed);
  }
}

/** Sends the current state of a document, unless the reader has it or the buffers of its connection are full. */
function send(reader: DocumentReader, { id, event }: Feed): void {
  if (reader.isFull || event === "" || reader.id === id) return;
  reader.id = id;
  write(reader, event);
}

function write(reader: DocumentReader, text: string): void {
  if (!reader.isFull) reader.isFull = !reader.response.write(text);
}
