import type { Clock } from "#shared/lib/clock.ts";
import type { UciSettings } from "#shared/runtime/config/uci.ts";
import { type Engine, type Found, openEngine, type Search } from "./uci-process.ts";

/** The limits of the processes of an engine. */
export interface ProcessLimits {
  /** The maximum number of processes. Further matches share them. */
  readonly processes: number;
  /** The maximum number of processes that are kept without a match. */
  readonly spare: number;
}

const LIMITS: ProcessLimits = { processes: 8, spare: 2 };

/** The process of an engine that plays one match, or several if there are more matches than processes. */
export interface Slot {
  /** The matches that this process plays. */
  readonly matches: Set<object>;
  /** The match whose positions the engine remembers. */
  current: object | null;
  engine: Engine | null;
  /** Resolves when the last search that was asked for is over. */
  queue: Promise<unknown>;
  readonly closing: AbortController;
}

/**
 * The processes of an engine. Each match has a process for itself while there are no more matches than processes, so that
 * matches neither share the engine's memory nor wait for each other. A shared process plays one search at a time and gets
 * `ucinewgame` when it changes between matches. A process that has ended is started again for the next search.
 */
export class EngineSlots {
  readonly #settings: UciSettings;
  readonly #clock: Clock;
  readonly #limits: ProcessLimits;
  readonly #slots = new Set<Slot>();
  #isClosed = false;

  constructor(settings: UciSettings, clock: Clock, limits: ProcessLimits = LIMITS) {
    this.#settings = settings;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Starts a process for the first match. Throws StartError if the engine does not start. */
  async open(): Promise<void> {
    await this.#running(this.#newSlot());
  }

  /** Assigns a process to a match. It is started when it is first used. */
  assign(match: object): Slot {
    const all = [...this.#slots];
    const spare = all.find(({ matches }) => matches.size === 0);
    const isFull = all.length >= this.#limits.processes;
    const [leastUsed] = all.toSorted((one, other) => one.matches.size - other.matches.size);
    const slot = spare ?? ((isFull && leastUsed) || this.#newSlot());
    slot.matches.add(match);
    return slot;
  }

  /** Releases the process of a match that is over. */
  release(match: object, slot: Slot): void {
    slot.matches.delete(match);
    const spare = [...this.#slots].filter(({ matches }) => matches.size === 0);
    for (const unneeded of spare.slice(this.#limits.spare)) {
      this.#slots.delete(unneeded);
      unneeded.closing.abort();
    }
  }

  /** Prepares the process for a match, so that its first search begins immediately. */
  async prepare(match: object, slot: Slot): Promise<void> {
    await this.#inTurn(slot, () => this.#readyFor(match, slot));
  }

  /** Searches for a match, after the earlier searches of its process. A search whose turn ends before is not begun. */
  search(match: object, slot: Slot, search: Search): Promise<Found> {
    return this.#inTurn(slot, async () => {
      if (search.signal.aborted) throw new Error("the turn ended before its search began");
      return (await this.#readyFor(match, slot)).search(search);
    });
  }

  /** Resolves when the processes have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { closing } of this.#slots) closing.abort();
    await Promise.all([...this.#slots].map(({ engine }) => engine?.ended));
  }

  #newSlot(): Slot {
    const closing = new AbortController();
    const slot: Slot = { matches: new Set(), current: null, engine: null, queue: Promise.resolve(), closing };
    this.#slots.add(slot);
    return slot;
  }

  #inTurn<T>(slot: Slot, task: () => Promise<T>): Promise<T> {
    const done = slot.queue.then(task);
    slot.queue = done.catch(() => {});
    return done;
  }

  async #readyFor(match: object, slot: Slot): Promise<Engine> {
    const engine = await this.#running(slot);
    if (slot.current === match) return engine;
    slot.current = null;
    await engine.newMatch();
    slot.current = match;
    return engine;
  }

  async #running(slot: Slot): Promise<Engine> {
    if (this.#isClosed) throw new Error("the player has ended");
    if (slot.engine?.isUp()) return slot.engine;
    slot.current = null;
    slot.engine = await openEngine(this.#settings, slot.closing.signal, this.#clock);
    return slot.engine;
  }
}
