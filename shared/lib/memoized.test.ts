import { expect, test } from "vitest";
import { memoized } from "./memoized.ts";

test("memoized creates its value at the first call and returns it to all callers", () => {
  let calls = 0;
  const value = memoized(() => {
    calls++;
    return undefined;
  });
  expect(calls).toBe(0);
  expect([value(), value()]).toEqual([undefined, undefined]);
  expect(calls).toBe(1);
});
