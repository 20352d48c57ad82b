import { expect, test } from "vitest";
import { lazily } from "./lazy.ts";
import { manualClock } from "./testing/clock.ts";

/** Returns a lazy load whose first `failures` attempts fail, and a function that returns the number of attempts. */
function failing(failures: number) {
  let attempts = 0;
  const load = lazily("the value", async () => {
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

/** Returns a lazy load with a limit of one second, whose attempts settle when the test settles them. */
function pending() {
  const clock = manualClock();
  const attempts: PromiseWithResolvers<string>[] = [];
  const load = lazily(
    "the value",
    () => {
      const attempt = Promise.withResolvers<string>();
      attempts.push(attempt);
      return attempt.promise;
    },
    { limitMs: 1_000, clock },
  );
  return { load, attempts, clock };
}

const TOO_LATE = "the value: not ready within 1 s; the next use starts again";

test("lazily rejects a load that does not settle within its limit, and loads again at the next call", async () => {
  const { load, attempts, clock } = pending();
  const outcomes = Promise.allSettled([load(), load()]);
  await clock.advance(1_000);
  const failed = { status: "rejected", reason: new Error(TOO_LATE) };
  expect(await outcomes).toEqual([failed, failed]);
  const again = load();
  attempts[1]?.resolve("second");
  expect([await again, await load(), attempts.length]).toEqual(["second", "second", 2]);
  expect(clock.timers()).toBe(0);
});

test.each(["before", "after"])("lazily ignores the result of a late load, %s the next load has ended", async (when) => {
  const { load, attempts, clock } = pending();
  const outcome = Promise.allSettled([load()]);
  await clock.advance(1_000);
  await outcome;
  const again = load();
  if (when === "before") attempts[0]?.resolve("first");
  await clock.nextTurn();
  attempts[1]?.resolve("second");
  expect(await again).toBe("second");
  attempts[0]?.reject(new Error("a late failure"));
  await clock.nextTurn();
  expect([await load(), attempts.length]).toEqual(["second", 2]);
});
