/** The end of a stream, with the appends that are under way counted in. */
export interface Head {
  readonly stream: string;
  /** The stream's number in its table; null for a stream that does not exist. */
  number: number | null;
  version: number;
  /** Hash of the last event. */
  hash: string;
  /** How many appends to the stream are under way. */
  underway: number;
  /** Settles with the last of them. */
  settled: Promise<unknown>;
}

export interface StreamHeads {
  of(stream: string): Head;
  /** Forgets the heads of an append that failed, so that they are read from disk again. */
  drop(heads: readonly Head[]): void;
}

/** Keeps the heads that were read last, at least those of appends under way; `read` reads one from disk. */
export function createHeads(read: (stream: string) => Head, capacity: number): StreamHeads {
  /** In the order in which they were read. */
  const heads = new Map<string, Head>();

  const makeRoom = (): void => {
    for (const { stream, underway } of heads.values()) {
      if (heads.size < capacity) return;
      if (underway === 0) heads.delete(stream);
    }
  };

  return {
    of(stream) {
      const known = heads.get(stream);
      if (known) return known;
      makeRoom();
      const head = read(stream);
      heads.set(stream, head);
      return head;
    },
    drop(failed) {
      // A head that has been read since stays: it does not count the appends that failed.
      for (const head of failed) if (heads.get(head.stream) === head) heads.delete(head.stream);
    },
  };
}
