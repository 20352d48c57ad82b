import { expect, test } from "vitest";
import { parseTimeControl, TimeControl, timeControlText } from "./time-control.ts";

test("a time control has a positive time and an increment of 0 or more, in whole milliseconds", () => {
  expect(TimeControl.parse({ initial_ms: 1 })).toEqual({ initial_ms: 1, increment_ms: 0 });
  for (const wrong of [{}, { initial_ms: 0 }, { initial_ms: 1.5 }, { initial_ms: 9, increment_ms: -1 }, { seconds: 1 }])
    expect(TimeControl.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
});

test("a time control is written in seconds, with or without an increment", () => {
  expect(parseTimeControl("60+1")).toEqual({ initial_ms: 60_000, increment_ms: 1_000 });
  expect(parseTimeControl("0.5+0.05")).toEqual({ initial_ms: 500, increment_ms: 50 });
  expect(parseTimeControl("300")).toEqual({ initial_ms: 300_000, increment_ms: 0 });
  for (const wrong of ["", "0", "0+1", "1+", "-1", "1+-1", "1:00", "60 + 1", "1e3", "999999"])
    expect(parseTimeControl(wrong), wrong).toBeNull();
  for (const text of ["60+1", "0.5+0.05", "300+0"]) {
    expect(timeControlText(parseTimeControl(text) as TimeControl)).toBe(text);
  }
});
