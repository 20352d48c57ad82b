import type { Pool } from "pg";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { GENESIS } from "#shared/lib/hash.ts";
import type { RecordedEvent, StreamAppend } from "../event-log.ts";
import { events } from "../testing/event-log.ts";
import { execute, type PostgresServer, sharedPostgres } from "../testing/postgres-server.ts";
import { inTransaction, openPostgres, type Postgres } from "./connection.ts";
import {
  chainAppends,
  EVENT_LOG_TABLES,
  insertEvents,
  readCommits,
  readHeads,
  readStream,
  readStreams,
} from "./log-statements.ts";

let server: PostgresServer;
let template: string;
beforeAll(async () => {
  server = await sharedPostgres();
  template = await server.createDatabase();
  await execute(template, EVENT_LOG_TABLES);
});

/** Appends in one transaction, as the commit with a number. */
const appendTo = (pool: Pool, number: number, appends: readonly StreamAppend[]): Promise<readonly RecordedEvent[]> =>
  inTransaction(pool, async (client) => {
    const streams = appends.map(({ stream }) => stream);
    const recorded = chainAppends(await readHeads(client, streams), appends);
    for (const { text, values } of insertEvents(number, recorded)) await client.query(text, [...values]);
    return recorded;
  });

describe("the tables of the event log in PostgreSQL", () => {
  let url: string;
  let db: Postgres<unknown>;
  let recorded: readonly RecordedEvent[];
  const to = (stream: string, expectedVersion: number, count = 1) => ({
    stream,
    expectedVersion,
    events: events(count),
  });

  beforeEach(async () => {
    url = await server.createDatabase(template);
    db = openPostgres<unknown>(url, { applicationName: "test" });
    recorded = [await appendTo(db.pool, 1, [to("s", 0)]), await appendTo(db.pool, 2, [to("s", 1)])].flat();
  });
  afterEach(() => db.close());

  const columns = "stream, seq, type, body, prev_hash, hash, commit_number, commit_index";
  test.each([
    "UPDATE log SET body = 'forged'",
    "DELETE FROM log",
    "DELETE FROM log WHERE seq = 1",
    "TRUNCATE log",
    "TRUNCATE streams CASCADE",
    "UPDATE streams SET name = 'forged'",
    "DELETE FROM streams",
    `INSERT INTO log (${columns}) VALUES (1, 1, 't', 'forged', 'x', 'h', 9, 0)
       ON CONFLICT (stream, seq) DO UPDATE SET body = 'forged'`,
    "MERGE INTO log USING streams ON log.stream = streams.number WHEN MATCHED THEN DELETE",
    "SET session_replication_role = replica; DELETE FROM log",
  ])("a row cannot be updated or deleted, even by a superuser: %s", async (sql) => {
    await expect(execute(url, sql)).rejects.toThrow(/^(log|streams) is append-only$/);
    expect([await readStream(db.pool, "s"), await readStreams(db.pool)]).toEqual([recorded, ["s"]]);
  });

  test.each([
    ["a gap", (last: RecordedEvent) => [1, 3, last.hash]],
    ["a previous hash of another event", (last: RecordedEvent) => [1, 2, last.prev_hash]],
    ["a previous hash in capitals", (last: RecordedEvent) => [1, 2, last.hash.toUpperCase()]],
    ["the genesis hash as previous hash of a later event", () => [1, 2, GENESIS]],
    ["a first event whose previous hash is not the genesis hash", (last: RecordedEvent) => [2, 0, last.hash]],
    ["a negative sequence number", () => [1, -1, GENESIS]],
    ["a stream that does not exist", () => [3, 0, GENESIS]],
  ] as const)("an event that does not follow the preceding event is rejected: %s", async (_, position) => {
    await execute(url, "INSERT INTO streams (name) VALUES ('new')");
    const insert = `INSERT INTO log (${columns}) VALUES ($1, $2, 'counted', '{}', $3, 'h', 9, 0)`;
    await expect(db.pool.query(insert, [...position(recorded[1] as RecordedEvent)])).rejects.toThrow(
      /does not follow|check constraint|foreign key/,
    );
    expect(await readStream(db.pool, "s")).toEqual(recorded);
  });

  test("rows of one statement may follow each other, in any order", async () => {
    const [last] = recorded.slice(-1) as [RecordedEvent];
    await execute(
      url,
      `INSERT INTO log (${columns}) VALUES (1, 3, 't', '{}', 'a', 'b', 9, 1), (1, 2, 't', '{}', '${last.hash}', 'a', 9, 0)`,
    );
    expect((await readStream(db.pool, "s")).map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
  });

  test("a commit has its number, and its events are read in their order", async () => {
    const commit = (number: number, ...streams: readonly [string, number][]) => {
      const appends = streams.map(([stream, version]) => to(stream, version, 2));
      return appendTo(db.pool, number, appends);
    };
    const third = await commit(3, ["z", 0], ["s", 2], ["a", 0]);
    const fourth = await commit(4, ["a", 2], ["z", 2]);
    expect(third.map(({ stream, seq }) => `${stream}${seq}`)).toEqual(["z0", "z1", "s2", "s3", "a0", "a1"]);
    expect(await readCommits(db.pool, 2, 9)).toEqual([...third, ...fourth]);
    expect(await readCommits(db.pool, 3, 9)).toEqual(fourth);
    expect(await readCommits(db.pool, 2, 3)).toEqual(third);
    expect(await readStreams(db.pool)).toEqual(["s", "z", "a"]);
    await expect(commit(4, ["a", 4])).rejects.toMatchObject({ code: "23505" });
    await expect(commit(5, ["a", 3])).rejects.toMatchObject({ name: "VersionConflict", actualVersion: 4 });
  });

  test("the gapless check reads by the index, also if the plan is made when the log is short", async () => {
    const scans = await inTransaction(db.pool, async (client) => {
      await client.query("ANALYZE log");
      const follow = `INSERT INTO log (${columns}) VALUES (1, 2, 't', '{}', $1, 'h', 9, 0)`;
      await client.query(follow, [recorded[1]?.hash]);
      return client.query(
        "SELECT seq_scan, idx_scan > 0 AS by_index FROM pg_stat_xact_user_tables WHERE relname = 'log'",
      );
    });
    expect(scans.rows).toEqual([{ seq_scan: 0, by_index: true }]);
  });

  test("the events of new commits are found by the index, also in a log that has no statistics yet", async () => {
    await execute(
      url,
      `ALTER TABLE log SET (autovacuum_enabled = off);
       INSERT INTO log (${columns})
       SELECT 1, n, 't', repeat('x', 330), CASE n WHEN 2 THEN '${recorded[1]?.hash}' ELSE 'h' END, 'h', n + 1, 0
       FROM generate_series(2, 30000) AS n`,
    );
    expect(await readCommits(db.pool, 30_000, 31_000)).toHaveLength(1);
    const explained = { query: (text: string, values: unknown[]) => db.pool.query(`EXPLAIN ${text}`, values) };
    const plan = JSON.stringify(await readCommits(explained, 30_000, 31_000));
    expect(plan).not.toMatch(/Parallel|Seq Scan on log/);
  });
});
