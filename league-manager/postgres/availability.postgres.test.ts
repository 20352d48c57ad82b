import { chownSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, test } from "vitest";
import { execute, sharedPostgres, startPostgres } from "#shared/store/testing/postgres-server.ts";
import { appendTo, commitOf, commitTo, texts, untilAvailable } from "../shared-run/testing/commits.ts";
import { createRun, openRun } from "./testing/postgres-runs.ts";

test("commands and reads of commits do not wait for slow reads", async () => {
  const url = await createRun(await sharedPostgres());
  const run = await openRun(url);
  const locking = new Client(url);
  await locking.connect();
  await locking.query("BEGIN; LOCK TABLE session_logs");
  let isRead = false;
  const reads = Array.from({ length: 7 }, async () => {
    await run.sessionLogOf("first", "R1M1");
    isRead = true;
  });
  const waiting =
    "SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND relation = 'session_logs'::regclass";
  while (((await locking.query(waiting)).rows[0]?.count ?? 0) < 7);
  await commitTo(run, { appends: [appendTo("s", 0, "made")] });
  expect([texts(await run.commitsAfter(0)), isRead]).toEqual([["s 0 made"], false]);
  await locking.end();
  await Promise.all(reads);
  await run.close();
});

test("a standby server is no answer: a commit that it does not have yet may exist", async () => {
  const server = await startPostgres();
  const url = await createRun(server);
  const run = await openRun(url);
  const commit = commitOf({ appends: [appendTo("s", 0, "made")] });
  await run.transact(0, () => commit);
  const [folder] = await execute(server.url, "SHOW data_directory");
  await server.halt();
  becomeStandby(String(folder?.data_directory));
  await server.restart();
  const outcomes = await Promise.allSettled([
    run.hasCommit(commit.id),
    run.commitsAfter(0),
    run.transact(0, () => null),
  ]);
  expect(outcomes.map((one) => one.status === "rejected" && one.reason.name)).toEqual(
    outcomes.map(() => "DatabaseUnavailable"),
  );
  await expect(openRun(url)).rejects.toThrow("the server is a standby");
  await execute(server.url, "SELECT pg_promote()");
  await untilAvailable(run);
  expect([await run.hasCommit(commit.id), texts(await run.commitsAfter(0))]).toEqual([true, ["s 0 made"]]);
  await run.close();
  await server.stop();
});

/** Lets a halted server start as a standby. */
function becomeStandby(folder: string): void {
  const file = join(folder, "standby.signal");
  writeFileSync(file, "");
  const { uid, gid } = statSync(folder);
  chownSync(file, uid, gid);
}
