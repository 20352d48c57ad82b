import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SharedList } from "./list.ts";

/** Lengths at which chunks begin and end. */
const length = fc.constantFrom(0, 1, 2, 255, 256, 257, 511, 512, 513, 1_000);
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe("SharedList", () => {
  test("has the values of an array after any changes, and earlier versions remain as they were", () => {
    const change = fc.oneof(
      fc.record({ at: fc.nat(), value: fc.integer() }),
      fc.record({ value: fc.integer() }),
    ) as fc.Arbitrary<{ at?: number; value: number }>;
    fc.assert(
      fc.property(length, fc.array(change, { maxLength: 20 }), (count, changes) => {
        let [array, list]: [readonly number[], SharedList<number>] = [numbers(count), SharedList.of(numbers(count))];
        const versions = [{ array, list }];
        for (const { at, value } of changes) {
          const isAppended = at === undefined || array.length === 0;
          [array, list] = isAppended
            ? [[...array, value], list.append(value)]
            : [array.with(at % array.length, value), list.with(at % array.length, value)];
          versions.push({ array, list });
        }
        for (const version of versions) expect([...version.list]).toEqual(version.array);
        expect(list.length).toBe(array.length);
      }),
    );
  });

  test("reads like an array", () => {
    const index = fc.option(fc.integer({ min: -1_100, max: 1_100 }), { nil: undefined });
    fc.assert(
      fc.property(length, index, index, (count, start, end) => {
        const [array, list] = [numbers(count), SharedList.of(numbers(count))];
        expect(list.slice(start, end)).toEqual(array.slice(start, end));
        expect(list.at(start ?? 0)).toBe(array.at(start ?? 0));
        expect(list.map((value, position) => value - position)).toEqual(array.map(() => 0));
        expect(list.flatMap((value) => [value, value])).toEqual(array.flatMap((value) => [value, value]));
        expect(list.filter((value) => value % 3 === 0)).toEqual(array.filter((value) => value % 3 === 0));
        expect(list.findLast((value) => value % 200 === 7)).toBe(array.findLast((value) => value % 200 === 7));
        expect(JSON.stringify({ list })).toBe(JSON.stringify({ list: array }));
      }),
    );
  });

  test("names the differences of two versions, also of different lengths", () => {
    const long = SharedList.of(numbers(600));
    const changed = long.with(3, -1).with(300, -1).append(600);
    expect([...changed.differences(long)]).toEqual([3, 300, 600]);
    expect([...long.differences(changed)]).toEqual([3, 300, 600]);
    expect([...long.differences(long)]).toEqual([]);
    expect([changed.lineage, SharedList.of(numbers(600)).lineage].map((one) => one === long.lineage)).toEqual([
      true,
      false,
    ]);
  });

  test("is equal to another list of the same values only", () => {
    const list = SharedList.of(numbers(300));
    expect(isDeepStrictEqual(list, SharedList.of(numbers(300)))).toBe(true);
    expect(isDeepStrictEqual(list, list.with(299, 0))).toBe(false);
  });

  test("converts the values that versions share once", () => {
    const converted: number[] = [];
    const negated = SharedList.mapping((value: number) => {
      converted.push(value);
      return -value;
    });
    const list = SharedList.of(numbers(1_000));
    const first = negated(list);
    expect([...first]).toEqual(numbers(1_000).map((value) => -value));
    converted.length = 0;
    const second = negated(list.with(999, 5));
    expect(converted).toHaveLength(1_000 - 768);
    expect([...second.differences(first)]).toEqual([999]);
    expect(second.lineage).toBe(first.lineage);
  });

  test("refuses to change an index that it does not have", () => {
    expect(() => SharedList.of(numbers(256)).with(256, 0)).toThrow("a list of 256 values has no index 256");
    expect(() => SharedList.of(numbers(10)).with(10, 0)).toThrow(RangeError);
  });
});
