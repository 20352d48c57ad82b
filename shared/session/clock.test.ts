import { expect, test } from "vitest";
import { TimeControl } from "../lib/time-control.ts";
import { charge, startClocks, timeLeft, withFallenFlag } from "./clock.ts";

const clocks = startClocks({ initial_ms: 60_000, increment_ms: 1_000 }, ["white", "black"]);

test("each role begins with the initial time", () => {
  expect(clocks).toEqual({ initial_ms: 60_000, increment_ms: 1_000, remaining_ms: { white: 60_000, black: 60_000 } });
});

test("an action costs the time spent and adds the increment, for its role only", () => {
  const after = charge(clocks, "white", 2_500);
  expect(after?.remaining_ms).toEqual({ white: 58_500, black: 60_000 });
  expect(clocks.remaining_ms.white).toBe(60_000);
});

test("a role that has used all of its time has lost, whatever the increment", () => {
  expect(charge(clocks, "black", 59_999)?.remaining_ms.black).toBe(1_001);
  expect(charge(clocks, "black", 60_000)).toBeNull();
  expect(charge(clocks, "black", 75_000)).toBeNull();
});

test("a fallen flag leaves no time", () => {
  expect(timeLeft(withFallenFlag(clocks, "black"), "black")).toBe(0);
  expect(timeLeft(withFallenFlag(clocks, "black"), "white")).toBe(60_000);
});

test("a role without a clock is an error of this program", () => {
  expect(() => timeLeft(clocks, "red")).toThrow("red has no clock");
});

test("a time control has a positive time and an increment of 0 or more, in whole milliseconds", () => {
  expect(TimeControl.parse({ initial_ms: 1 })).toEqual({ initial_ms: 1, increment_ms: 0 });
  for (const wrong of [{}, { initial_ms: 0 }, { initial_ms: 1.5 }, { initial_ms: 9, increment_ms: -1 }, { seconds: 1 }])
    expect(TimeControl.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
});
