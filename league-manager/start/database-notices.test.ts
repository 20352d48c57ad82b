import { beforeEach, expect, it, onTestFinished } from "vitest";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import { watchDatabase } from "./compose.ts";

const GONE = "the database does not answer; results and registrations wait until it is back";
const BACK = "the database answers again";
const SUSPENDED = "this manager was suspended for 12 s (its process or machine was stopped or overloaded)";

let clock: ManualClock;
let isAvailable: boolean;
/** The time during which the process did not run. Its timers have not run either. */
let suspendedMs: number;
let lines: string[];

beforeEach(() => {
  clock = manualClock();
  [isAvailable, suspendedMs, lines] = [true, 0, []];
  const stop = watchDatabase({
    isAvailable: () => isAvailable,
    clock: { ...clock, monotonic: () => clock.monotonic() + suspendedMs },
    notice: (line) => void lines.push(line),
  });
  onTestFinished(stop);
});

it("a database that does not answer is reported once, and once when it answers again", async () => {
  await clock.advance(10_000);
  isAvailable = false;
  await clock.advance(10_000);
  expect(lines).toEqual([GONE]);
  isAvailable = true;
  await clock.advance(10_000);
  expect(lines).toEqual([GONE, BACK]);
});

it("a manager that was suspended says so, and nothing about a database that answers soon", async () => {
  await clock.advance(10_000);
  [isAvailable, suspendedMs] = [false, 12_000];
  await clock.advance(3_000);
  isAvailable = true;
  await clock.advance(10_000);
  expect(lines).toEqual([SUSPENDED]);
});

it("a database that does not answer five seconds after a suspension is reported", async () => {
  [isAvailable, suspendedMs] = [false, 12_000];
  await clock.advance(5_000);
  expect(lines).toEqual([SUSPENDED]);
  await clock.advance(1_000);
  expect(lines).toEqual([SUSPENDED, GONE]);
});
