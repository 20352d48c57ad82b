import { hash } from "node:crypto";

/** A seeded random number generator. The same seed gives the same numbers on every machine. */
export interface Random {
  /** Returns a float in [0, 1). */
  next(): number;
  /** Returns an integer from `min` to `max`, both included. */
  int(min: number, max: number): number;
  /** Returns an item of the list. Throws a RangeError if the list is empty. */
  pick<T>(items: readonly T[]): T;
  /** Returns a shuffled copy of the list. */
  shuffle<T>(items: readonly T[]): T[];
}

/**
 * Creates a generator (sfc32) that is seeded with the SHA-256 of a string. It is statistically sound and fast, but not
 * cryptographically secure.
 */
export function createRandom(seed: string): Random {
  const bytes = hash("sha256", seed, "buffer");
  let a = bytes.readInt32LE(0);
  let b = bytes.readInt32LE(4);
  let c = bytes.readInt32LE(8);
  let counter = bytes.readInt32LE(12);

  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return (sum >>> 0) / 2 ** 32;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));

  return {
    next,
    int,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new RangeError("pick from an empty list");
      return items[int(0, items.length - 1)] as T;
    },
    shuffle<T>(items: readonly T[]): T[] {
      const result = [...items];
      for (let i = result.length - 1; i > 0; i--) {
        const j = int(0, i);
        [result[i], result[j]] = [result[j] as T, result[i] as T];
      }
      return result;
    },
  };
}
