import { expect, test } from "vitest";
import { listSummary, SharedList } from "./list.ts";
import { createRandom } from "./rng.ts";

/** The sum and the count of numbers, and the numbers that were read for them. */
function summaryWithReads() {
  const reads: number[] = [];
  const summary = listSummary({
    empty: () => ({ sum: 0, count: 0 }),
    add(total, value: number, times) {
      reads.push(value);
      total.sum += times * value;
      total.count += times;
    },
  });
  return { reads, summary };
}

const numbers = (count: number): SharedList<number> =>
  SharedList.of(Array.from({ length: count }, (_, index) => index));

test("a summary is that of all values, in each of many versions of two lists", () => {
  const random = createRandom("versions");
  const { summary } = summaryWithReads();
  const versions = [numbers(3), numbers(300)];
  for (let step = 0; step < 500; step++) {
    const list = random.pick(versions);
    expect(summary(list)).toEqual(summary([...list]));
    const value = random.int(0, 9);
    versions.push(random.int(0, 2) === 0 ? list.append(value) : list.with(random.int(0, list.length - 1), value));
  }
});

test("the values that have not changed are not read again, in a list of any length", () => {
  for (const length of [10, 10_000]) {
    const { reads, summary } = summaryWithReads();
    const list = numbers(length);
    const before = { ...summary(list) };
    reads.length = 0;
    expect(summary(list.with(4, 100).append(-1))).toEqual({ sum: before.sum + 95, count: length + 1 });
    expect(reads).toEqual([4, 100, -1]);
  }
});

test("a summary is right after an exception in the middle of the changes", () => {
  let isFailing = false;
  const summary = listSummary({
    empty: () => ({ sum: 0 }),
    add(total, value: number, times) {
      if (isFailing && value === 9) throw new Error("unreadable");
      total.sum += times * value;
    },
  });
  const list = numbers(3);
  expect(summary(list)).toEqual({ sum: 3 });
  isFailing = true;
  expect(() => summary(list.with(0, 7).append(9))).toThrow("unreadable");
  isFailing = false;
  expect(summary(list)).toEqual({ sum: 3 });
});
