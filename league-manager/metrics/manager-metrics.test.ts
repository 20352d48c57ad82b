import { expect, test } from "vitest";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { EMPTY_STATE } from "../commands/testing/commands.ts";
import type { QueueStats } from "../match-queue.ts";
import { managerMetrics } from "./manager-metrics.ts";

const clock = manualClock();
/** The names of the metrics of a manager without leagues. */
async function namesWith(queueStats: () => Promise<QueueStats>): Promise<readonly string[]> {
  const ledger = { state: EMPTY_STATE, onCommit: () => () => {} };
  const metrics = managerMetrics({
    ledger,
    commands: { families: () => [] },
    clock,
    silentReferees: () => [],
    queueStats,
    shared: null,
  });
  const families = metrics.families();
  await clock.advance(2_000);
  return (await families).map(({ name }) => name);
}

test("a queue that does not answer, or that fails, leaves only its own metric out", async () => {
  const withQueue = await namesWith(async () => ({ waiting: 3, held: 1 }));
  expect(withQueue).toContain("league_queue_jobs");
  const others = withQueue.filter((name) => name !== "league_queue_jobs");
  expect(await namesWith(() => new Promise(() => {}))).toEqual(others);
  expect(await namesWith(() => Promise.reject(new Error("no database")))).toEqual(others);
});
