import { expect, test } from "vitest";
import { lazily, memoized } from "./lazily.ts";

/** A load that fails so many times first, and how often it was begun. */
function failing(times: number) {
  let begun = 0;
  const load = lazily(async () => {
    if (begun++ < times) throw new Error(`failure ${begun}`);
    return { loaded: begun };
  });
  return { load, begun: () => begun };
}

test("nothing is loaded before it is asked for, and everybody gets the same", async () => {
  const { load, begun } = failing(0);
  expect(begun()).toBe(0);
  const [one, two] = await Promise.all([load(), load()]);
  expect([one, await load(), begun()]).toEqual([{ loaded: 1 }, two, 1]);
});

test("a load that failed is told to all who waited for it, and begun anew by whoever asks next", async () => {
  const { load, begun } = failing(1);
  const told = await Promise.allSettled([load(), load()]);
  const failed = { status: "rejected", reason: new Error("failure 1") };
  expect([told, begun()]).toEqual([[failed, failed], 1]);
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
