import type { Dispatcher } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";
import type { Clock } from "#shared/lib/clock.ts";
import { err, ok } from "#shared/lib/result.ts";
import { parseEndpoint } from "#shared/protocol/addresses.ts";
import { type Call, endFailed, RAW_LIMIT, type Transport, tooLarge } from "./call.ts";

/** Creates the transport that sends each request as an HTTP request. */
export function createHttpTransport(targets: Targets): Transport {
  return {
    send({ endpoint, method, body }, call) {
      const target = targets.of(endpoint);
      if (!target) return call.settle(noHttpUrl(endpoint));
      const headers = body === null ? bearerOf(call) : jsonHeaders(call);
      const reset = call.closesConnection ? { reset: true } : {};
      target.pool.dispatch({ path: target.path, method, body, headers, ...reset }, new Exchange(call));
    },
    close: () => targets.close(),
  };
}

const JSON_CONTENT = { "content-type": "application/json" };

const bearerOf = ({ bearer }: Call) => (bearer === undefined ? null : { authorization: `Bearer ${bearer}` });

/** Returns the headers of a JSON body, with the bearer token and the headers of the call. */
const jsonHeaders = (call: Call): Record<string, string> =>
  call.bearer === undefined && !call.headers ? JSON_CONTENT : { ...JSON_CONTENT, ...bearerOf(call), ...call.headers };

const noHttpUrl = (endpoint: string) =>
  err({
    cause: "refused",
    detail: "the endpoint is not an http URL",
    systemMessage: `not an http URL: ${endpoint.slice(0, 200)}`,
  } as const);

/** The handler that undici calls for one request and its response. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #call: Call;
  readonly #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #status = 0;
  #retryAfter: string | undefined;
  #controller: Dispatcher.DispatchController | null = null;

  constructor(call: Call) {
    this.#call = call;
    call.onSettled = (isAnswered) => {
      if (!isAnswered) this.#controller?.abort(new Error("the call has ended"));
    };
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#call.isSettled) controller.abort(new Error("the call has ended"));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.#status = statusCode;
    const retryAfter = statusCode < 400 ? undefined : headers["retry-after"];
    if (typeof retryAfter === "string") this.#retryAfter = retryAfter;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxReplyBytes } = this.#call;
    this.#sizeBytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#sizeBytes <= maxReplyBytes) return;
    this.#call.settle(tooLarge(maxReplyBytes, Buffer.concat(this.#chunks).toString("utf8", 0, RAW_LIMIT)));
  }

  onResponseEnd(): void {
    const reply = { status: this.#status, text: joinChunks(this.#chunks).toString("utf8") };
    this.#call.settle(ok(this.#retryAfter === undefined ? reply : { ...reply, retryAfter: this.#retryAfter }));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    endFailed(this.#call, error);
  }
}

/** Returns the chunks as one buffer. A single chunk is not copied. */
function joinChunks(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first ? first : Buffer.concat(chunks);
}

// Only the pool of undici is imported, because the index of the package also loads fetch, WebSocket, caches and mocks. The median CPU time of
// eight starts is 270 ms instead of 330 ms for a referee, and 220 ms instead of 240 ms for a player (2 cores, Node 26.10, undici 8.12).

/** The connections and the path of an endpoint. An endpoint is parsed once, because an agent calls the same few endpoints many times. */
interface Target {
  readonly pool: Pick<Dispatcher, "dispatch">;
  readonly path: string;
}

/** The HTTP connections of a process to the agents that it calls. */
export interface Targets {
  /** Returns the target of an endpoint, without opening a connection; null if the endpoint is not an http or https URL. */
  of(endpoint: string): Target | null;
  /** The number of origins with open pools. */
  readonly size: number;
  /** Closes all connections. Calls under way fail. */
  close(): Promise<void>;
}

/** The connections to one origin. */
export interface ConnectionPool extends Pick<Dispatcher, "dispatch"> {
  /** Whether a request is queued or under way. */
  isBusy(): boolean;
  destroy(): Promise<void>;
}

export type DispatchOptions = Dispatcher.DispatchOptions;
export type DispatchHandler = Dispatcher.DispatchHandler;
export type DispatchController = Dispatcher.DispatchController;

/** Creates the connection pool of an origin such as `http://127.0.0.1:8001`. */
export type OpenPool = (origin: string) => ConnectionPool;

interface Origin {
  readonly pool: ConnectionPool;
  /** The targets by endpoint. */
  readonly targets: Map<string, KnownTarget>;
  /** Monotonic time of the last call, in milliseconds. */
  usedAtMs: number;
}

interface KnownTarget extends Target {
  readonly origin: Origin;
}

/** The time after the last call until the connections to an origin are closed. Agents of a running league are called more often. */
const IDLE_MS = 5 * 60_000;
/** The largest number of cached targets of one origin. */
const MAX_PATHS = 1_000;

/** Creates a connection pool of undici. */
export const openPool: OpenPool = (origin) => {
  // No pipelining: a slow response would delay the next ones on its connection, and undici repeats pipelined requests after a lost connection.
  const pool = new Pool(origin, {
    connections: 128,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: 10_000,
  });
  return {
    dispatch: (options, handler) => pool.dispatch(options, handler),
    isBusy: () => pool.stats.running + pool.stats.pending + pool.stats.queued > 0,
    destroy: () => pool.destroy(),
  };
};

/** Creates the connections of a process. Connections to idle origins are closed when a call to a new origin is made. */
export function createTargets(clock: Clock, open: OpenPool = openPool): Targets {
  const origins = new Map<string, Origin>();
  const knownTargets = new Map<string, KnownTarget>();

  const close = async (name: string, { pool, targets }: Origin): Promise<void> => {
    origins.delete(name);
    for (const endpoint of targets.keys()) knownTargets.delete(endpoint);
    await pool.destroy();
  };

  const closeIdle = (): void => {
    for (const [name, origin] of origins) {
      if (!origin.pool.isBusy() && clock.monotonic() - origin.usedAtMs > IDLE_MS) void close(name, origin);
    }
  };

  const originOf = (name: string): Origin => {
    const found = origins.get(name);
    if (found) return found;
    closeIdle();
    const origin = { pool: open(name), targets: new Map(), usedAtMs: clock.monotonic() };
    origins.set(name, origin);
    return origin;
  };

  const add = (endpoint: string): KnownTarget | null => {
    const url = parseEndpoint(endpoint);
    if (!url) return null;
    const origin = originOf(url.origin);
    if (origin.targets.size >= MAX_PATHS) {
      for (const known of origin.targets.keys()) knownTargets.delete(known);
      origin.targets.clear();
    }
    const target = { pool: origin.pool, path: url.pathname + url.search, origin };
    origin.targets.set(endpoint, target);
    knownTargets.set(endpoint, target);
    return target;
  };

  return {
    of(endpoint) {
      const target = knownTargets.get(endpoint) ?? add(endpoint);
      if (target) target.origin.usedAtMs = clock.monotonic();
      return target;
    },
    get size() {
      return origins.size;
    },
    async close() {
      await Promise.all([...origins].map(([name, origin]) => close(name, origin)));
    },
  };
}
