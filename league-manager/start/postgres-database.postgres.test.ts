import { pino } from "pino";
import { expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { sharedPostgres } from "#shared/store/testing/postgres-server.ts";
import { createJobQueue } from "../postgres/job-queue.ts";
import { openPostgresRun } from "../postgres/postgres-run.ts";
import { createRun, managerUrl } from "../postgres/testing/postgres-runs.ts";
import { postgresDatabase, queueErrors } from "./postgres-database.ts";

const log = pino({ level: "silent" });

test("warns at the start of a manager whose user could remove events, and names the command", async () => {
  const url = await createRun(await sharedPostgres());
  await createJobQueue(url);
  const warnings: string[] = [];
  const self = { clock: systemClock, ids: systemIds, log, warn: (line: string) => void warnings.push(line) };
  const { run } = await postgresDatabase(url)(self);
  expect(warnings).toEqual([
    `user "${new URL(url).username}" may remove results from the database: create a role for the managers, enter "league db migrate --role ROLE", and name that role in the URL`,
  ]);
  await run.close();
});

test("logs an outage of the database once a minute without a stack, and every other error", () => {
  const lines: Record<string, unknown>[] = [];
  const written = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  let nowMs = 0;
  const onError = queueErrors(written, { monotonic: () => nowMs });
  const outage = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  for (const atMs of [0, 500, 59_000, 60_000]) {
    nowMs = atMs;
    onError(outage);
  }
  onError(new Error("a fault"));
  onError(new Error("a fault"));
  expect(lines.map(({ msg, reason, err }) => [msg, reason, err !== undefined])).toEqual([
    ...Array(2).fill(["the queue of matches waits for the database", "connect ECONNREFUSED", false]),
    ...Array(2).fill(["the queue of matches tries again", undefined, true]),
  ]);
});

test("does not warn about a user with the rights that the migration grants", async () => {
  const url = await createRun(await sharedPostgres());
  const warnings: string[] = [];
  const noJobs = { enqueue: async () => {}, complete: async () => {} };
  const warn = (line: string): void => void warnings.push(line);
  const run = await openPostgresRun({ url: managerUrl(url), queue: noJobs, clock: systemClock, ids: systemIds, warn });
  await run.close();
  expect(warnings).toEqual([]);
});
