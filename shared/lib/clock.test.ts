import { describe, expect, it } from "vitest";
import { type Clock, isInstant, isIso, isoAt, systemClock, throwLater } from "./clock.ts";
import { manualClock } from "./testing/clock.ts";

/** A clock and how a test lets its time pass. */
interface Subject {
  readonly clock: Clock;
  pass(ms: number): Promise<void>;
}

const subjects: Readonly<Record<string, () => Subject>> = {
  systemClock: () => ({
    clock: systemClock,
    // Timers are due in the order of their moments, so a later one shows that the earlier ones have fired.
    pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms + 5)),
  }),
  manualClock: () => {
    const clock = manualClock();
    return { clock, pass: clock.advance };
  },
};

describe.each(Object.entries(subjects))("%s", (_, create) => {
  it("gives the date as a number and as text", () => {
    const { clock } = create();
    const before = clock.now();
    const text = clock.iso();
    expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(text)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(text)).toBeLessThanOrEqual(clock.now());
  });

  it("monotonic advances by the time that passes", async () => {
    const { clock, pass } = create();
    const begun = clock.monotonic();
    await pass(10);
    expect(clock.monotonic() - begun).toBeGreaterThanOrEqual(9.9);
  });

  it("after calls once, in the order of the moments, and not when cancelled", async () => {
    const { clock, pass } = create();
    const calls: string[] = [];
    clock.after(20, () => calls.push("late"));
    clock.after(5, () => calls.push("early"));
    const cancel = clock.after(5, () => calls.push("cancelled"));
    cancel();
    expect(calls).toEqual([]);
    await pass(20);
    expect(calls).toEqual(["early", "late"]);
    cancel();
  });

  it("every calls again and again until it is cancelled, also from its own call", async () => {
    const { clock, pass } = create();
    let calls = 0;
    const cancel = clock.every(5, () => {
      calls++;
      if (calls === 3) cancel();
    });
    await pass(100);
    expect(calls).toBe(3);
  });

  it("pause resolves true when the time has passed, false when its signal is aborted before or during it", async () => {
    const { clock, pass } = create();
    const [during, before] = [new AbortController(), AbortSignal.abort()];
    const passed = clock.pause(5);
    const aborted = clock.pause(1_000_000, during.signal);
    const never = clock.pause(1_000_000, before);
    during.abort();
    expect(await aborted).toBe(false);
    expect(await never).toBe(false);
    await pass(5);
    expect(await passed).toBe(true);
  });

  it("timeout gives a signal that is aborted with a TimeoutError when the time has passed", async () => {
    const { clock, pass } = create();
    const signal = clock.timeout(5);
    expect(signal.aborted).toBe(false);
    await pass(10);
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ name: "TimeoutError" });
  });

  it("defer and nextTurn continue after the promises that are already resolved", async () => {
    const { clock } = create();
    const order: string[] = [];
    clock.defer(() => order.push("deferred"));
    const turn = clock.nextTurn().then(() => order.push("turn"));
    await Promise.resolve().then(() => order.push("promise"));
    await turn;
    expect(order).toEqual(["promise", "deferred", "turn"]);
  });
});

it("throwLater throws in a later turn, not in its caller", () => {
  const deferred: (() => void)[] = [];
  throwLater({ defer: (run) => void deferred.push(run) }, new Error("late"));
  expect(deferred).toHaveLength(1);
  expect(deferred[0]).toThrow("late");
});

describe("manualClock", () => {
  it("fires timers at their exact moments, those that timers set included", async () => {
    const clock = manualClock();
    const moments: number[] = [];
    clock.after(10, () => clock.after(15, () => moments.push(clock.monotonic())));
    clock.every(10, () => moments.push(clock.monotonic()));
    await clock.advance(30);
    expect(moments).toEqual([10, 20, 25, 30]);
    expect(clock.monotonic()).toBe(30);
  });

  it("lets the code that waits for one timer continue before the next timer fires", async () => {
    const clock = manualClock();
    const order: string[] = [];
    clock.after(2, () => order.push("second"));
    void (async () => {
      await clock.pause(1);
      await null;
      order.push("after the first");
    })();
    await clock.advance(2);
    expect(order).toEqual(["after the first", "second"]);
  });

  it("keeps durations and timers when its date is set", async () => {
    const clock = manualClock(1_000);
    let fired = false;
    clock.after(10, () => (fired = true));
    clock.setDate(0);
    expect(clock.now()).toBe(0);
    await clock.advance(10);
    expect(clock.now()).toBe(10);
    expect(fired).toBe(true);
    expect(clock.timers()).toBe(0);
  });
});

describe("an instant as text", () => {
  it.each([0, 951_782_400_000, 1_735_689_600_123])("is recognized: %d ms", (ms) => expect(isIso(isoAt(ms))).toBe(true));

  it.each([
    "",
    "now",
    "2025-01-01",
    "2025-01-01T00:00:00Z",
    "2025-01-01T00:00:00.000+00:00",
    "2025-02-30T00:00:00.000Z",
    "2025-02-29T00:00:00.000Z",
    "2025-13-01T00:00:00.000Z",
    "2025-01-01T24:00:00.000Z",
    "2025-01-01T00:00:00.000Z ",
    "+010000-01-01T00:00:00.000Z",
  ])("is only what `iso` writes: %j is not", (text) => expect(isIso(text)).toBe(false));

  it.each([isoAt(0), "2025-01-01T00:00Z", "2025-01-01T00:00:00.123456+05:30"])(
    "of any precision and zone: %j",
    (text) => expect(isInstant(text)).toBe(true),
  );

  it.each(["", "now", "2025-01-01", "2025-01-01T00:00:00", "2025-13-01T00:00:00Z", "2025-01-01T00:00:00Z "])(
    "has a time and a zone: %j is not one",
    (text) => expect(isInstant(text)).toBe(false),
  );
});
