/** The end of a stream, including its pending appends. */
export interface Head {
  readonly stream: string;
  /** The stream's number in its table; null for a stream that does not exist. */
  number: number | null;
  version: number;
  /** The hash of the last event. */
  hash: string;
  /** The number of pending appends to the stream. */
  pendingAppends: number;
  /** Settles when the last pending append is settled. */
  settled: Promise<unknown>;
}

export interface StreamHeads {
  of(stream: string): Head;
  /** Removes the heads of a failed append, so that they are read from disk again. */
  drop(heads: readonly Head[]): void;
}

/**
 * Creates a cache of the most recently read heads. Heads with pending appends are never evicted, even beyond
 * `capacity`. `read` reads a head from disk.
 */
export function createHeads(read: (stream: string) => Head, capacity: number): StreamHeads {
  /** Heads in the order in which they were read. */
  const heads = new Map<string, Head>();

  const evict = (): void => {
    for (const { stream, pendingAppends } of heads.values()) {
      if (heads.size < capacity) return;
      if (pendingAppends === 0) heads.delete(stream);
    }
  };

  return {
    of(stream) {
      const known = heads.get(stream);
      if (known) return known;
      evict();
      const head = read(stream);
      heads.set(stream, head);
      return head;
    },
    drop(failed) {
      // A head that has been read since then stays: it does not include the failed appends.
      for (const head of failed) if (heads.get(head.stream) === head) heads.delete(head.stream);
    },
  };
}
