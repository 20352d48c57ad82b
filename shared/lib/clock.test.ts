import { describe, expect, it } from "vitest";
import { type Clock, isInstant, isIso, isoAt, systemClock, throwLater } from "./clock.ts";
import { manualClock } from "./testing/clock.ts";

/** A clock under test and a function that advances its time. */
interface Subject {
  readonly clock: Clock;
  advance(ms: number): Promise<void>;
}

const subjects: Readonly<Record<string, () => Subject>> = {
  systemClock: () => ({
    clock: systemClock,
    // Timers fire in the order of their due times: when this timer fires, all earlier ones have fired.
    advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms + 5)),
  }),
  manualClock: () => {
    const clock = manualClock();
    return { clock, advance: clock.advance };
  },
};

describe.each(Object.entries(subjects))("%s", (_, create) => {
  it("returns the date as a number and as ISO 8601 text", () => {
    const { clock } = create();
    const before = clock.now();
    const text = clock.iso();
    expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(text)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(text)).toBeLessThanOrEqual(clock.now());
  });

  it("monotonic() advances by the elapsed time", async () => {
    const { clock, advance } = create();
    const start = clock.monotonic();
    await advance(10);
    expect(clock.monotonic() - start).toBeGreaterThanOrEqual(9.9);
  });

  it("after() calls its callback once, in the order of due times, and not if it is cancelled", async () => {
    const { clock, advance } = create();
    const calls: string[] = [];
    clock.after(20, () => calls.push("late"));
    clock.after(5, () => calls.push("early"));
    const cancel = clock.after(5, () => calls.push("cancelled"));
    cancel();
    expect(calls).toEqual([]);
    await advance(20);
    expect(calls).toEqual(["early", "late"]);
    cancel();
  });

  it("every() calls its callback repeatedly until it is cancelled, which the callback itself may do", async () => {
    const { clock, advance } = create();
    let calls = 0;
    const cancel = clock.every(5, () => {
      calls++;
      if (calls === 3) cancel();
    });
    await advance(100);
    expect(calls).toBe(3);
  });

  it("pause() resolves to true after the time, and to false if its signal is aborted before or during the pause", async () => {
    const { clock, advance } = create();
    const [during, before] = [new AbortController(), AbortSignal.abort()];
    const passed = clock.pause(5);
    const aborted = clock.pause(1_000_000, during.signal);
    const abortedBefore = clock.pause(1_000_000, before);
    during.abort();
    expect(await aborted).toBe(false);
    expect(await abortedBefore).toBe(false);
    await advance(5);
    expect(await passed).toBe(true);
  });

  it("timeout() returns a signal that is aborted with a TimeoutError after the time", async () => {
    const { clock, advance } = create();
    const signal = clock.timeout(5);
    expect(signal.aborted).toBe(false);
    await advance(10);
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ name: "TimeoutError" });
  });

  it("defer() and nextTurn() continue after promises that are already resolved", async () => {
    const { clock } = create();
    const order: string[] = [];
    clock.defer(() => order.push("deferred"));
    const turn = clock.nextTurn().then(() => order.push("turn"));
    await Promise.resolve().then(() => order.push("promise"));
    await turn;
    expect(order).toEqual(["promise", "deferred", "turn"]);
  });
});

it("throwLater() throws in a later turn of the event loop, not in its caller", () => {
  const deferred: (() => void)[] = [];
  throwLater({ defer: (run) => void deferred.push(run) }, new Error("late"));
  expect(deferred).toHaveLength(1);
  expect(deferred[0]).toThrow("late");
});

describe("manualClock", () => {
  it("fires timers at their exact due times, including timers that are set by timers", async () => {
    const clock = manualClock();
    const moments: number[] = [];
    clock.after(10, () => clock.after(15, () => moments.push(clock.monotonic())));
    clock.every(10, () => moments.push(clock.monotonic()));
    await clock.advance(30);
    expect(moments).toEqual([10, 20, 25, 30]);
    expect(clock.monotonic()).toBe(30);
  });

  it("runs the code that awaits a timer before the next timer fires", async () => {
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

  it("does not change durations or timers when its date is set", async () => {
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

describe("an instant in ISO 8601", () => {
  it.each([0, 951_782_400_000, 1_735_689_600_123])("isIso accepts the text that isoAt writes for %d ms", (ms) =>
    expect(isIso(isoAt(ms))).toBe(true),
  );

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
  ])("isIso rejects %j, which isoAt does not write", (text) => expect(isIso(text)).toBe(false));

  it.each([isoAt(0), "2025-01-01T00:00Z", "2025-01-01T00:00:00.123456+05:30"])(
    "isInstant accepts %j, with any precision and time zone",
    (text) => expect(isInstant(text)).toBe(true),
  );

  it.each(["", "now", "2025-01-01", "2025-01-01T00:00:00", "2025-13-01T00:00:00Z", "2025-01-01T00:00:00Z "])(
    "isInstant rejects %j, which is not a date with a time and a time zone",
    (text) => expect(isInstant(text)).toBe(false),
  );
});
