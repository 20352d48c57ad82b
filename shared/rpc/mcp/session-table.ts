import { isLoopback, networkOf } from "../../protocol/addresses.ts";

/** The properties of a session that the table reads. */
export interface TableSession {
  /** The address that opened the session. */
  readonly remoteAddress: string;
  /** The requests that are not answered yet. */
  readonly calls: ReadonlySet<unknown>;
  /** The open event streams of GET requests. An idle client keeps its stream open. */
  readonly streams: ReadonlySet<unknown>;
  /** The time of the last use, on the monotonic clock. */
  readonly usedAt: number;
}

export interface SessionLimits {
  /** The maximum number of sessions. */
  readonly total: number;
  /** The maximum number of sessions of one remote network. Sessions of loopback are limited by the total only. */
  readonly perNetwork: number;
}

export const SESSION_LIMITS: SessionLimits = { total: 5_000, perNetwork: 200 };

/**
 * The open sessions of one endpoint. At a limit, a new session replaces the longest idle one, so that callers with abandoned sessions do not
 * prevent new ones. A session with an open stream or call is not replaced.
 */
export class SessionTable<Session extends TableSession> {
  readonly #all = new Set<Session>();
  readonly #networks = new Map<string, Set<Session>>();
  readonly #limits: SessionLimits;
  readonly #evict: (session: Session) => void;

  constructor(limits: SessionLimits, evict: (session: Session) => void) {
    this.#limits = limits;
    this.#evict = evict;
  }

  get all(): Iterable<Session> {
    return this.#all;
  }

  /** Makes room for a session from this address, by an eviction if necessary. Returns whether there is room. */
  makeRoom(remoteAddress: string): boolean {
    const networkSessions = isLoopback(remoteAddress) ? undefined : this.#networks.get(networkOf(remoteAddress));
    if (networkSessions && networkSessions.size >= this.#limits.perNetwork)
      return this.#evictLongestIdle(networkSessions);
    return this.#all.size < this.#limits.total || this.#evictLongestIdle(this.#all);
  }

  add(session: Session): void {
    this.#all.add(session);
    const network = networkOf(session.remoteAddress);
    const networkSessions = this.#networks.get(network) ?? new Set();
    this.#networks.set(network, networkSessions.add(session));
  }

  delete(session: Session): void {
    this.#all.delete(session);
    const network = networkOf(session.remoteAddress);
    const networkSessions = this.#networks.get(network);
    networkSessions?.delete(session);
    if (networkSessions?.size === 0) this.#networks.delete(network);
  }

  #evictLongestIdle(sessions: Iterable<Session>): boolean {
    let longestIdle: Session | null = null;
    for (const session of sessions) {
      if (session.calls.size > 0 || session.streams.size > 0) continue;
      if (longestIdle === null || session.usedAt < longestIdle.usedAt) longestIdle = session;
    }
    if (longestIdle === null) return false;
    this.delete(longestIdle);
    this.#evict(longestIdle);
    return true;
  }
}
