import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { openRunClock } from "./run-clock.ts";
import { DatabaseUnavailable } from "./run-database.ts";

/** Opens the clock of a run on a machine whose clock differs from that of the database. */
async function clockOf(machineAheadMs: number) {
  const time = manualClock();
  const machine = { aheadMs: machineAheadMs };
  const database = { isAway: false, aheadMs: 0, answersAfterMs: 0 };
  const warnings: string[] = [];
  const { clock, stop } = await openRunClock({
    clock: { ...time, now: () => time.now() + machine.aheadMs },
    database: {
      async time() {
        if (database.isAway) throw new DatabaseUnavailable("away");
        const answer = time.now() + database.aheadMs;
        await (database.answersAfterMs > 0 && time.pause(database.answersAfterMs));
        return answer;
      },
    },
    warn: (line) => warnings.push(line),
  });
  onTestFinished(stop);
  return { time, machine, database, clock, warnings };
}

test.each([
  [600_000, "600 s ahead of"],
  [-90_000, "90 s behind"],
])(
  "the dates are those of the database if the machine's clock is %i ms ahead, and one line says so",
  async (ms, differs) => {
    const { time, clock, warnings } = await clockOf(ms);
    expect([clock.now(), clock.iso()]).toEqual([time.now(), time.iso()]);
    await time.advance(60_000);
    expect(clock.now()).toBe(time.now());
    expect(warnings).toEqual([
      `the clock of this machine is ${differs} the clock of the database, which the leagues use: synchronize both, e.g. with chrony`,
    ]);
  },
);

test("a clock that is set while the manager runs changes no date, also while the database is away", async () => {
  const { time, machine, database, clock, warnings } = await clockOf(900);
  expect(warnings).toEqual([]);
  database.isAway = true;
  machine.aheadMs = 3_600_000;
  await time.advance(60_000);
  expect(clock.now()).toBe(time.now());
  expect(warnings).toEqual([]);
  database.isAway = false;
  await time.advance(60_000);
  expect(clock.now()).toBe(time.now());
  expect(warnings).toHaveLength(1);
});

test("the dates follow the clock of another database server, and a slow answer does not disturb them", async () => {
  const { time, database, clock } = await clockOf(0);
  database.aheadMs = 5_000;
  await time.advance(5_000);
  expect(clock.now()).toBe(time.now() + 5_000);
  database.answersAfterMs = 800;
  await time.advance(30_000);
  expect(clock.now()).toBe(time.now() + 5_000);
});
