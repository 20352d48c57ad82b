import { isLoopback, networkOf } from "../../protocol/addresses.ts";

/** What the table has to know of a session. */
export interface HeldSession {
  /** The address that opened it. */
  readonly remoteAddress: string;
  /** Calls that wait for their answer. */
  readonly calls: ReadonlySet<unknown>;
  /** The streams of GET, which stay open while nothing happens. */
  readonly streams: ReadonlySet<unknown>;
  /** When it was last used, on the monotonic clock. */
  readonly usedAt: number;
}

export interface SessionLimits {
  /** All sessions of this process. */
  readonly total: number;
  /** Sessions of one remote network; loopback has no limit besides the total. */
  readonly perNetwork: number;
}

export const SESSION_LIMITS: SessionLimits = { total: 5_000, perNetwork: 200 };

/**
 * The open sessions of one endpoint, bounded. Where a limit is reached, a new session takes the place of the one that has been idle for
 * longest, so callers that open sessions and leave them cannot lock others out. A session with an open stream or call keeps its place.
 */
export class SessionTable<Session extends HeldSession> {
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

  /** Whether there is room for one more session from this address, after an eviction if necessary. */
  makeRoom(remoteAddress: string): boolean {
    const ofNetwork = isLoopback(remoteAddress) ? undefined : this.#networks.get(networkOf(remoteAddress));
    if (ofNetwork && ofNetwork.size >= this.#limits.perNetwork) return this.#evictIdlest(ofNetwork);
    return this.#all.size < this.#limits.total || this.#evictIdlest(this.#all);
  }

  add(session: Session): void {
    this.#all.add(session);
    const network = networkOf(session.remoteAddress);
    const ofNetwork = this.#networks.get(network) ?? new Set();
    this.#networks.set(network, ofNetwork.add(session));
  }

  delete(session: Session): void {
    this.#all.delete(session);
    const network = networkOf(session.remoteAddress);
    const ofNetwork = this.#networks.get(network);
    ofNetwork?.delete(session);
    if (ofNetwork?.size === 0) this.#networks.delete(network);
  }

  #evictIdlest(sessions: Iterable<Session>): boolean {
    let idlest: Session | null = null;
    for (const session of sessions) {
      if (session.calls.size > 0 || session.streams.size > 0) continue;
      if (idlest === null || session.usedAt < idlest.usedAt) idlest = session;
    }
    if (idlest === null) return false;
    this.delete(idlest);
    this.#evict(idlest);
    return true;
  }
}
