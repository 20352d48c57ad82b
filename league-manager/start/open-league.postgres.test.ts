import { expect, onTestFinished, test, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { sharedPostgres } from "#shared/store/testing/postgres-server.ts";
import { createJobQueue } from "../postgres/job-queue.ts";
import { createRun } from "../postgres/testing/postgres-runs.ts";
import { startTestManager, type TestManager } from "../testing/test-manager.ts";
import { postgresDatabase } from "./postgres-database.ts";

const LEAGUES = [{ league_id: "rps", game: "rps.v1", max_players: 3 }];

test("a league that is opened at one of two managers is at both, and at a manager that is started later", async () => {
  const url = await createRun(await sharedPostgres());
  await createJobQueue(url);
  const notices: string[] = [];
  const startOne = async (): Promise<TestManager> => {
    const onEvent = (event: { readonly type: string; readonly message?: string }): void => {
      if (event.type === "notice") notices.push(event.message ?? "");
    };
    const manager = await startTestManager(LEAGUES, {}, onEvent, {}, postgresDatabase(url));
    onTestFinished(() => manager.stop());
    return manager;
  };
  const [one, other] = [await startOne(), await startOne()];
  await one.register("P01", "P02", "REF01");
  const call = (manager: TestManager, tool: string, args: object) => manager.tool(tool, args, manager.operator);
  expect(await call(one, "start_league", { league_id: "rps" })).toMatchObject({ status: "STARTED" });
  expect(await call(one, "end_league", { league_id: "rps" })).toMatchObject({ status: "ENDED" });
  const isOver = async () => expect(await other.leagues()).toMatchObject([{ status: "completed" }]);
  await vi.waitFor(isOver, WAIT_OPTIONS);

  expect(await call(other, "open_league", { league_id: "second", like: "rps" })).toMatchObject({ status: "OPENED" });
  const expected = [
    { league_id: "rps", status: "completed" },
    { league_id: "second", status: "open", max_players: 3 },
  ];
  await vi.waitFor(async () => expect(await one.leagues()).toMatchObject(expected), WAIT_OPTIONS);
  const opened =
    /^second is open for registration, with the settings that the config gives rps; its seed commitment is /;
  await vi.waitFor(() => expect(notices.filter((line) => opened.test(line))).toHaveLength(2), WAIT_OPTIONS);
  expect(await call(one, "open_league", { league_id: "second", like: "rps" })).toMatchObject({ error_code: "L003" });
  await one.register("Ann", "Bob");
  expect(await call(one, "start_league", { league_id: "second" })).toMatchObject({ status: "STARTED" });

  const later = await startOne();
  for (const manager of [one, other, later]) {
    const isRunning = { ...expected[1], status: "running", players: 2 };
    await vi.waitFor(async () => expect(await manager.leagues()).toMatchObject([expected[0], isRunning]), WAIT_OPTIONS);
  }
});
