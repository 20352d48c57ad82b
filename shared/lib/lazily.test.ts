import { expect, test } from "vitest";
import { lazily, memoized } from "./lazily.ts";

/** A load whose first `times` attempts fail, and the number of attempts. */
function failing(times: number) {
  let begun = 0;
  const load = lazily(async () => {
    if (begun++ < times) throw new Error(`failure ${begun}`);
    return { loaded: begun };
  });
  return { load, begun: () => begun };
}

test("loads at the first call and returns the same value to all callers", async () => {
  const { load, begun } = failing(0);
  expect(begun()).toBe(0);
  const [one, two] = await Promise.all([load(), load()]);
  expect([one, await load(), begun()]).toEqual([{ loaded: 1 }, two, 1]);
});

test("a failed load rejects for all waiting callers and is repeated at the next call", async () => {
  const { load, begun } = failing(1);
  const outcomes = await Promise.allSettled([load(), load()]);
  const failed = { status: "rejected", reason: new Error("failure 1") };
  expect([outcomes, begun()]).toEqual([[failed, failed], 1]);
  expect(await load()).toEqual({ loaded: 2 });
  expect(await load()).toEqual({ loaded: 2 });
});

test("a value is made at the first call, and once for all calls", () => {
  let made = 0;
  const value = memoized(() => {
    made++;
    return undefined;
  });
  expect(made).toBe(0);
  expect([value(), value()]).toEqual([undefined, undefined]);
  expect(made).toBe(1);
});
