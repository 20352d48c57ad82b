// The one deep import of undici: its pool alone. The package's index also loads fetch, WebSocket, caches and mocks. Median CPU time of
// eight starts in turn, with the index and with the pool: referee 330 and 270 ms, player 240 and 220 ms (2 cores, Node 26.10, undici 8.12).

import type { Dispatcher } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";
import type { Clock } from "../../lib/clock.ts";
import { parseEndpoint } from "../../protocol/addresses.ts";
import type { Target } from "./exchange.ts";

/** The connections of one process to the agents that it calls. */
export interface Targets {
  /** Where a call to this endpoint goes, at once; null for anything but an http URL. */
  of(endpoint: string): Target | null;
  /** Origins that connections are kept for. */
  readonly size: number;
  close(): Promise<void>;
}

/** The connections to one origin. */
export interface ConnectionPool extends Pick<Dispatcher, "dispatch"> {
  /** Whether a request waits or is under way. */
  isBusy(): boolean;
  destroy(): Promise<void>;
}

export type DispatchOptions = Dispatcher.DispatchOptions;
export type DispatchHandler = Dispatcher.DispatchHandler;
export type DispatchController = Dispatcher.DispatchController;

/** Opens the connections to an origin such as `http://127.0.0.1:8001`. */
export type OpenPool = (origin: string) => ConnectionPool;

interface Origin {
  readonly pool: ConnectionPool;
  readonly targets: Map<string, KnownTarget>;
  usedAt: number;
}

interface KnownTarget extends Target {
  readonly origin: Origin;
}

/** How long connections to an origin that is not called are kept; agents of a running league are called more often. */
const IDLE_MS = 5 * 60_000;
/** Paths of one origin that are remembered at once. */
const MAX_PATHS = 1_000;

/** Connections of undici. */
const openPool: OpenPool = (origin) => {
  // No pipelining: a slow answer would hold up the ones behind it, and undici resends after a dropped socket.
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

export function createTargets(clock: Clock, open: OpenPool = openPool): Targets {
  const origins = new Map<string, Origin>();
  const known = new Map<string, KnownTarget>();

  const close = async (name: string, { pool, targets }: Origin): Promise<void> => {
    origins.delete(name);
    for (const endpoint of targets.keys()) known.delete(endpoint);
    await pool.destroy();
  };

  const closeIdle = (): void => {
    for (const [name, origin] of origins) {
      if (!origin.pool.isBusy() && clock.monotonic() - origin.usedAt > IDLE_MS) void close(name, origin);
    }
  };

  const originOf = (name: string): Origin => {
    const found = origins.get(name);
    if (found) return found;
    closeIdle();
    const origin = { pool: open(name), targets: new Map(), usedAt: clock.monotonic() };
    origins.set(name, origin);
    return origin;
  };

  const add = (endpoint: string): KnownTarget | null => {
    const url = parseEndpoint(endpoint);
    if (!url) return null;
    const origin = originOf(url.origin);
    if (origin.targets.size >= MAX_PATHS) {
      for (const one of origin.targets.keys()) known.delete(one);
      origin.targets.clear();
    }
    const target = { pool: origin.pool, path: url.pathname + url.search, origin };
    origin.targets.set(endpoint, target);
    known.set(endpoint, target);
    return target;
  };

  return {
    of(endpoint) {
      const target = known.get(endpoint) ?? add(endpoint);
      if (target) target.origin.usedAt = clock.monotonic();
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
