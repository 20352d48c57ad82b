import { type List, SharedList } from "#shared/lib/list.ts";
import type { FormatRound } from "./format.ts";

/** A sum over rounds, such as a count. Each round adds a part that does not depend on the other rounds. */
interface Sum<S> {
  /** Creates the sum of no rounds. */
  empty(): S;
  /** Adds the part of a round to a sum `times` times: once, or −1 times to take it away. */
  add(sum: S, round: FormatRound, times: 1 | -1): void;
}

/**
 * Returns a function that sums up the rounds of a league. It keeps the sum of each list, and changes it by the rounds that differ in the next version, so
 * that its cost does not depend on the length of a league. The result is valid until the next call.
 */
export function roundSummary<S>({ empty, add }: Sum<S>): (rounds: List<FormatRound>) => Readonly<S> {
  const kept = new WeakMap<object, { readonly sum: S; rounds: SharedList<FormatRound> }>();
  const sumOf = (rounds: List<FormatRound>): S => {
    const sum = empty();
    for (const round of rounds) add(sum, round, 1);
    return sum;
  };
  return (rounds) => {
    if (!(rounds instanceof SharedList)) return sumOf(rounds);
    const last = kept.get(rounds.lineage);
    if (!last) {
      const sum = sumOf(rounds);
      kept.set(rounds.lineage, { sum, rounds });
      return sum;
    }
    for (const index of rounds.differences(last.rounds)) {
      const [before, after] = [last.rounds.at(index), rounds.at(index)];
      if (before) add(last.sum, before, -1);
      if (after) add(last.sum, after, 1);
    }
    last.rounds = rounds;
    return last.sum;
  };
}
