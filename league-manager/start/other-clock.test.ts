import { expect, it, onTestFinished, vi } from "vitest";
import { isoAt, systemClock } from "#shared/lib/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { modelRun } from "../shared-run/testing/model-run.ts";
import { startTestManager } from "../testing/test-manager.ts";

it("a league starts at its time by the clock of the database, whatever the clock of the manager's machine shows", async () => {
  const run = modelRun();
  const now = (): number => systemClock.now() - 600_000;
  const leagues = [{ league_id: "rps", game: "rps.v1", starts_at: systemClock.iso() }];
  const parts = { clock: { ...systemClock, now, iso: () => isoAt(now()) } };
  const manager = await startTestManager(leagues, {}, undefined, parts, async () => {
    const database = await run.connect();
    return { run: database, queue: database.queue };
  });
  onTestFinished(async () => {
    await manager.stop();
    await run.close();
  });
  await manager.register("REF01", "P01", "P02");
  await vi.waitFor(async () => expect((await manager.leagues())[0].status).toBe("running"), WAIT_OPTIONS);
});
