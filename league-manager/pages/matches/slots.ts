/** A limited number of slots. Holders that find none wait in a queue. */
export class Slots<Holder> {
  readonly #limit: number;
  readonly #holders = new Set<Holder>();
  readonly #queue = new Set<Holder>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The holders of slots, the earliest first. */
  get holders(): ReadonlySet<Holder> {
    return this.#holders;
  }

  /** Takes a slot, or keeps the one that the holder has. Returns false if there is none; the holder then waits in the queue. */
  reserve(holder: Holder): boolean {
    if (this.#holders.size >= this.#limit && !this.#holders.has(holder)) {
      this.#queue.add(holder);
      return false;
    }
    this.#queue.delete(holder);
    this.#holders.add(holder);
    return true;
  }

  /** Gives up the slot of a holder, or its place in the queue. Returns the holder that has waited longest if it can now reserve a slot. */
  release(holder: Holder): Holder | null {
    this.#holders.delete(holder);
    this.#queue.delete(holder);
    const [next] = this.#queue;
    if (next === undefined || this.#holders.size >= this.#limit) return null;
    this.#queue.delete(next);
    return next;
  }
}
