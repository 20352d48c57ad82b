import { Client } from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GENESIS } from "#shared/lib/hash.ts";
import { openPostgres } from "#shared/store/postgres/connection.ts";
import { sharedPostgres } from "#shared/store/testing/postgres-server.ts";
import type { LaterCommits } from "../shared-run/run-database.ts";
import { appendTo, commitOf, commitTo, profileOf, texts, versionIn } from "../shared-run/testing/commits.ts";
import type { PostgresRun } from "./postgres-run.ts";
import { joinParts, RUN_LOCK, readParts } from "./run-commits.ts";
import { createRun, openRun } from "./testing/postgres-runs.ts";

let url: string;
let run: PostgresRun;
/** A manager that reads three commits at a time. */
let late: PostgresRun;

beforeEach(async () => {
  url = await createRun(await sharedPostgres());
  [run, late] = await Promise.all([openRun(url), openRun(url, { maxCommits: 3 })]);
});
afterEach(async () => {
  await Promise.all([run.close(), late.close()]);
});

const commitMany = async (count: number): Promise<void> => {
  for (let version = 0; version < count; version++) {
    await commitTo(run, { appends: [appendTo("s", version, `${version}`)], writes: [profileOf(`P${version % 4}`)] });
  }
};

test("commits are read in parts of a limited number, which join to the result of one read", async () => {
  await commitMany(10);
  await commitTo(run, { writes: [{ type: "erase_profile", agentId: "P0" }] });
  const { pool, close } = openPostgres<unknown>(url, { applicationName: "test" });
  const parts = await readParts(pool, 1, 3);
  expect(parts.map(({ number, events, isLast }) => [number, events.length, isLast])).toEqual([
    [4, 3, false],
    [7, 3, false],
    [10, 3, false],
    [11, 0, true],
  ]);
  const whole = await run.commitsAfter(1);
  expect(joinParts(parts)).toEqual(whole);
  expect([await late.commitsAfter(1), await late.commitsAfter(11), await late.commitsAfter(99)]).toEqual([
    whole,
    { number: 11, events: [], profiles: new Map() },
    { number: 11, events: [], profiles: new Map() },
  ]);
  expect((await readParts(pool, 1, 10)).length).toBe(1);
  await close();
});

test("a manager that is far behind gives the lock back: the commit of a manager that waits for it comes first", async () => {
  await commitMany(10);
  const locking = new Client(url);
  await locking.connect();
  await locking.query(`BEGIN; SELECT pg_advisory_xact_lock(${RUN_LOCK})`);
  const waiting = "SELECT count(*)::int AS count FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
  const untilWaiting = async (count: number): Promise<void> => {
    while ((await locking.query(waiting)).rows[0]?.count < count);
  };
  const seen: LaterCommits[] = [];
  const behind = late.transact(0, (later) => {
    seen.push(later);
    return commitOf({ appends: [appendTo("s", 11, "of the late one"), appendTo("t", 0, "new")] });
  });
  await untilWaiting(1);
  const other = commitTo(run, { appends: [appendTo("s", 10, "of another one")], writes: [profileOf("P1", "Ann")] }, 10);
  await untilWaiting(2);
  await locking.query("COMMIT");
  await Promise.all([behind, other]);
  await locking.end();
  const later = await run.commitsAfter(0);
  expect(seen.map(({ number }) => number)).toEqual([11]);
  expect([seen[0]?.events, seen[0]?.profiles]).toEqual([later.events.slice(0, 11), later.profiles]);
  expect(texts(await run.commitsAfter(10))).toEqual(["s 10 of another one", "s 11 of the late one", "t 0 new"]);
});

test("managers that are always behind see every commit once, while others commit", async () => {
  const COMMITS = 60;
  let isEnding = false;
  const commits = Array.from({ length: COMMITS }, (_, index) => index);
  const writing = async (): Promise<void> => {
    for (const index of commits) {
      await run.transact(0, (later) =>
        commitOf({
          appends: [appendTo("s", versionIn(later, "s"), `fast ${index}`)],
          writes: [profileOf("P0", `${later.number + 1}`)],
        }),
      );
    }
    isEnding = true;
  };
  const reading = async (): Promise<void> => {
    while (!isEnding) {
      const { number, events, profiles } = await late.commitsAfter(0);
      expect([events.length, profiles.get("P0")?.name]).toEqual([number, number === 0 ? undefined : `${number}`]);
    }
  };
  const deciding = async (): Promise<number> => {
    let made = 0;
    for (; !isEnding; made++) {
      await late.transact(0, (later) => {
        expect(versionIn(later, "s")).toBe(later.number);
        const writes = [profileOf("P0", `${later.number + 1}`)];
        return commitOf({ appends: [appendTo("s", later.number, "late")], writes });
      });
    }
    return made;
  };
  const [, , made] = await Promise.all([writing(), reading(), deciding()]);
  const { number, events } = await late.commitsAfter(0);
  expect([number, events.length]).toEqual([COMMITS + made, COMMITS + made]);
  expect(events.map(({ prev_hash }) => prev_hash)).toEqual([GENESIS, ...events.slice(0, -1).map(({ hash }) => hash)]);
});
