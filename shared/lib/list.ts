/** A list that is only read: an array or a `SharedList`. */
export interface List<T> extends Iterable<T> {
  readonly length: number;
  /** Returns the value at an index, which counts from the end if it is negative; undefined if there is none. */
  at(index: number): T | undefined;
  slice(start?: number, end?: number): readonly T[];
  map<U>(convert: (value: T, index: number) => U): readonly U[];
  flatMap<U>(convert: (value: T, index: number) => U | readonly U[]): readonly U[];
  filter(test: (value: T, index: number) => boolean): readonly T[];
  findLast(test: (value: T) => boolean): T | undefined;
}

type Chunk<T> = readonly T[];

/** The number of values in each chunk but the last. */
const CHUNK = 256;

/**
 * A list that is never changed: `with` and `append` return a new version. Versions share the chunks that are equal. A change of a list of 100,000 values
 * therefore copies about 650 references, and the differences of two versions are found without reading what they share.
 */
export class SharedList<T> implements List<T> {
  readonly length: number;
  /** The same object in all versions of a list. It identifies the list in caches. */
  readonly lineage: object;
  // Not private: a comparison of two leagues has to compare the values.
  readonly chunks: readonly Chunk<T>[];

  private constructor(chunks: readonly Chunk<T>[], length: number, lineage: object) {
    this.chunks = chunks;
    this.length = length;
    this.lineage = lineage;
  }

  /** Creates a list of these values. */
  static of<T>(values: Iterable<T> = []): SharedList<T> {
    const all = [...values];
    const chunks: Chunk<T>[] = [];
    for (let start = 0; start < all.length; start += CHUNK) chunks.push(all.slice(start, start + CHUNK));
    return new SharedList(chunks, all.length, {});
  }

  /** Returns a function that converts each value of a list. A chunk that several lists share is converted once, and the results share the converted chunk. */
  static mapping<T, U>(convert: (value: T) => U): (list: SharedList<T>) => SharedList<U> {
    const known = new WeakMap<Chunk<T>, Chunk<U>>();
    const lineages = new WeakMap<object, object>();
    const convertChunk = (chunk: Chunk<T>): Chunk<U> => {
      const converted = known.get(chunk) ?? chunk.map(convert);
      known.set(chunk, converted);
      return converted;
    };
    return ({ chunks, length, lineage: of }) => {
      const lineage = lineages.get(of) ?? {};
      lineages.set(of, lineage);
      return new SharedList(chunks.map(convertChunk), length, lineage);
    };
  }

  at(index: number): T | undefined {
    const position = index < 0 ? this.length + index : index;
    return this.chunks[Math.floor(position / CHUNK)]?.[position % CHUNK];
  }

  /** Returns a version with another value at an index. Throws a RangeError if the list does not have this index. */
  with(index: number, value: T): SharedList<T> {
    const part = Math.floor(index / CHUNK);
    const chunk = this.chunks[part];
    if (!chunk) throw new RangeError(`a list of ${this.length} values has no index ${index}`);
    const chunks = this.chunks.with(part, chunk.with(index % CHUNK, value));
    return new SharedList(chunks, this.length, this.lineage);
  }

  /** Returns a version with a further value at the end. */
  append(value: T): SharedList<T> {
    const isFull = this.length % CHUNK === 0;
    const last = isFull ? [] : (this.chunks.at(-1) as Chunk<T>);
    const chunks = [...(isFull ? this.chunks : this.chunks.slice(0, -1)), [...last, value]];
    return new SharedList(chunks, this.length + 1, this.lineage);
  }

  /** Returns the indexes, ascending, at which two versions have different values or only one has a value. Chunks that both share are not read. */
  *differences(other: SharedList<T>): Generator<number, undefined> {
    for (let part = 0; part < Math.max(this.chunks.length, other.chunks.length); part++) {
      const [own = [], others = []] = [this.chunks[part], other.chunks[part]];
      if (own === others) continue;
      for (let index = 0; index < Math.max(own.length, others.length); index++) {
        if (own[index] !== others[index]) yield part * CHUNK + index;
      }
    }
  }

  *[Symbol.iterator](): Generator<T, undefined> {
    for (const chunk of this.chunks) yield* chunk;
  }

  slice(start = 0, end = this.length): readonly T[] {
    const absolute = (index: number): number => Math.max(0, index < 0 ? this.length + index : index);
    const [from, to] = [absolute(start), absolute(end)];
    const part = Math.floor(from / CHUNK);
    return this.chunks
      .slice(part, Math.ceil(to / CHUNK))
      .flat()
      .slice(from - part * CHUNK, to - part * CHUNK);
  }

  map<U>(convert: (value: T, index: number) => U): readonly U[] {
    return this.slice().map(convert);
  }

  flatMap<U>(convert: (value: T, index: number) => U | readonly U[]): readonly U[] {
    return this.slice().flatMap(convert);
  }

  filter(test: (value: T, index: number) => boolean): readonly T[] {
    return this.slice().filter(test);
  }

  findLast(test: (value: T) => boolean): T | undefined {
    for (const chunk of this.chunks.toReversed()) {
      const index = chunk.findLastIndex(test);
      if (index !== -1) return chunk[index];
    }
    return undefined;
  }

  /** The values as an array, for JSON. */
  toJSON(): readonly T[] {
    return this.slice();
  }
}

/** A sum over the values of a list, such as a count. Each value adds a part that does not depend on the other values. */
interface Sum<T, S> {
  /** Creates the sum of no values. */
  empty(): S;
  /** Adds the part of a value to a sum if `times` is 1, and takes it away if `times` is −1. */
  add(sum: S, value: T, times: 1 | -1): void;
}

/**
 * Returns a function that sums up a list. For the next version of a `SharedList` it changes the sum by the values that differ, so that its cost does not
 * depend on the length of the list. The result is valid until the next call.
 */
export function listSummary<T, S>({ empty, add }: Sum<T, S>): (list: List<T>) => Readonly<S> {
  const kept = new WeakMap<object, { readonly sum: S; readonly list: SharedList<T> }>();
  const sumOf = (list: List<T>): S => {
    const sum = empty();
    for (const value of list) add(sum, value, 1);
    return sum;
  };
  return (list) => {
    if (!(list instanceof SharedList)) return sumOf(list);
    const last = kept.get(list.lineage);
    if (!last) {
      const sum = sumOf(list);
      kept.set(list.lineage, { sum, list });
      return sum;
    }
    // An exception must not leave a sum with a part of the changes.
    kept.delete(list.lineage);
    for (const index of list.differences(last.list)) {
      const [before, after] = [last.list.at(index), list.at(index)];
      if (before !== undefined) add(last.sum, before, -1);
      if (after !== undefined) add(last.sum, after, 1);
    }
    kept.set(list.lineage, { sum: last.sum, list });
    return last.sum;
  };
}
