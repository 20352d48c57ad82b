import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { createLiveLine, createPace, durationText } from "./live-line.ts";

function terminal(isTTY: boolean) {
  const stream = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY, columns: 20 });
  return { stream: stream as unknown as NodeJS.WriteStream, text: (): string => stream.read() ?? "" };
}

test("the line is redrawn at most every 200 ms, cut to the terminal, and erased at the end", async () => {
  const clock = manualClock();
  const { stream, text } = terminal(true);
  let games = 0;
  const line = createLiveLine(stream, clock, () => `${games} games, and much more text`);
  for (games = 1; games <= 3; games++) line.changed();
  expect(text()).toBe("");
  await clock.advance(200);
  expect(text()).toContain("4 games, and much");
  line.print("a warning");
  expect(text()).toBe("\r\x1b[2Ka warning\n");
  await clock.advance(200);
  expect(text()).toContain("4 games");
  line.end();
  line.changed();
  await clock.advance(1_000);
  expect(text()).toBe("\r\x1b[2K");
});

test("a text that takes long to compute is drawn for at most a twentieth of the time", async () => {
  const clock = manualClock();
  const { stream } = terminal(true);
  let draws = 0;
  let now = 0;
  const slow = { ...clock, monotonic: () => now };
  const line = createLiveLine(stream, slow, () => {
    draws++;
    now += 100;
    return "";
  });
  line.changed();
  await clock.advance(200);
  line.changed();
  await clock.advance(1_900);
  expect(draws).toBe(1);
  await clock.advance(100);
  expect(draws).toBe(2);
});

test("only printed lines are written to a file or a pipe", async () => {
  const clock = manualClock();
  const { stream, text } = terminal(false);
  const line = createLiveLine(stream, clock, () => "progress");
  line.changed();
  line.print("a warning");
  await clock.advance(1_000);
  line.end();
  expect(text()).toBe("a warning\n");
});

test("the pace counts the games of this command, also after a match was resumed", async () => {
  const clock = manualClock();
  const pace = createPace(clock, 100);
  expect(pace.of(100, 50)).toBeNull();
  await clock.advance(2_000);
  expect(pace.of(120, 50)).toEqual({ perSecond: 10, secondsLeft: 5 });
  expect(pace.of(120, null)).toEqual({ perSecond: 10, secondsLeft: null });
});

test("durations have at most two units", () => {
  expect([0.4, 59, 61, 3_599, 3_600, 93_784].map(durationText)).toEqual([
    "0 s",
    "59 s",
    "1 min 1 s",
    "59 min 59 s",
    "1 h 0 min",
    "26 h 3 min",
  ]);
});
