import { expect, test } from "vitest";
import { lazily, memoized } from "./lazy.ts";

/** Returns a lazy load whose first `failures` attempts fail, and a function that returns the number of attempts. */
function failing(failures: number) {
  let attempts = 0;
  const load = lazily(async () => {
    if (attempts++ < failures) throw new Error(`failure ${attempts}`);
    return { loaded: attempts };
  });
  return { load, attempts: () => attempts };
}

test("lazily loads at the first call and returns the same value to all callers", async () => {
  const { load, attempts } = failing(0);
  expect(attempts()).toBe(0);
  const [one, two] = await Promise.all([load(), load()]);
  expect([one, await load(), attempts()]).toEqual([{ loaded: 1 }, two, 1]);
});

test("lazily rejects the promises of all waiting callers after a failed load, and loads again at the next call", async () => {
  const { load, attempts } = failing(1);
  const outcomes = await Promise.allSettled([load(), load()]);
  const failed = { status: "rejected", reason: new Error("failure 1") };
  expect([outcomes, attempts()]).toEqual([[failed, failed], 1]);
  expect(await load()).toEqual({ loaded: 2 });
  expect(await load()).toEqual({ loaded: 2 });
});

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
