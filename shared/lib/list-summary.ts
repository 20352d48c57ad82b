import { type List, SharedList } from "./list.ts";

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
