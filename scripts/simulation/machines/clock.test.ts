import { expect, it } from "vitest";
import { processClock } from "./clock.ts";
import { createScheduler } from "./scheduler.ts";

it("the timers of a stopped process fire when it continues, in their order, unless they are cancelled", async () => {
  const scheduler = createScheduler();
  let resumesAt = 0;
  const clock = processClock(
    scheduler,
    () => 0,
    () => {},
    () => resumesAt,
  );
  const fired: string[] = [];
  clock.after(10, () => fired.push(`first at ${scheduler.now()}`));
  clock.after(20, () => fired.push(`second at ${scheduler.now()}`));
  const cancel = clock.after(15, () => fired.push("cancelled"));
  clock.after(200, () => fired.push(`third at ${scheduler.now()}`));
  scheduler.after(5, () => {
    resumesAt = 100;
  });
  scheduler.after(50, cancel);
  while (await scheduler.step());
  expect(fired).toEqual(["first at 100", "second at 100", "third at 200"]);
  expect(clock.timers()).toBe(0);
});
