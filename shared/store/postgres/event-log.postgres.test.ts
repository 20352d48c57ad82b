import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { GENESIS } from "../../lib/hash-chain.ts";
import type { AsyncEventLog, RecordedEvent } from "../event-log.ts";
import { testEventLog } from "../testing/event-log.suite.ts";
import { events, NOTES, type OpenedLog } from "../testing/event-log.ts";
import { execute, type PostgresServer, sharedPostgres } from "../testing/postgres-server.ts";
import { inTransaction, openPostgres, type Postgres } from "./connection.ts";
import { postgresEventLog } from "./event-log.ts";
import { appendWithin, readCommits } from "./log-statements.ts";
import { EVENT_LOG_TABLES } from "./log-tables.ts";

/** Counts the transactions that append. */
const COUNTER = `
  CREATE TABLE transactions (id xid8 PRIMARY KEY);
  CREATE FUNCTION count_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO transactions VALUES (pg_current_xact_id()) ON CONFLICT DO NOTHING; RETURN NULL; END $$;
  CREATE TRIGGER counter AFTER INSERT ON log FOR EACH STATEMENT EXECUTE FUNCTION count_transaction();`;

let server: PostgresServer;
let template: string;
beforeAll(async () => {
  server = await sharedPostgres();
  template = await server.createDatabase();
  await execute(template, EVENT_LOG_TABLES + NOTES + COUNTER);
});

testEventLog("PostgreSQL", async (): Promise<OpenedLog> => {
  const { pool, close } = openPostgres<unknown>(await server.createDatabase(template), { applicationName: "test" });
  const column = async (sql: string): Promise<readonly unknown[]> =>
    (await pool.query({ text: sql, rowMode: "array" })).rows.flat();
  return {
    log: postgresEventLog(pool),
    parameter: "$1",
    duplicateNote: 'violates unique constraint "notes_pkey"',
    commits: async () => (await column("SELECT count(*) FROM transactions"))[0] as number,
    notes: () => column("SELECT text FROM notes ORDER BY text"),
    whileCommitsWait: (body) =>
      inTransaction(pool, async (client) => {
        await client.query("LOCK TABLE log IN EXCLUSIVE MODE");
        return body();
      }),
    close,
  };
});

describe("the event log in PostgreSQL", () => {
  let url: string;
  let db: Postgres<unknown>;
  let log: AsyncEventLog;
  let recorded: readonly RecordedEvent[];
  const to = (stream: string, expectedVersion: number, count = 1) => ({
    stream,
    expectedVersion,
    events: events(count),
  });

  beforeEach(async () => {
    url = await server.createDatabase(template);
    db = openPostgres<unknown>(url, { applicationName: "test" });
    log = postgresEventLog(db.pool);
    recorded = [await log.append([to("s", 0)]), await log.append([to("s", 1)])].flat();
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
    expect([await log.read("s"), await log.streams()]).toEqual([recorded, ["s"]]);
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
    expect(await log.read("s")).toEqual(recorded);
  });

  test("rows of one statement may follow each other, in any order", async () => {
    const [last] = recorded.slice(-1) as [RecordedEvent];
    await execute(
      url,
      `INSERT INTO log (${columns}) VALUES (1, 3, 't', '{}', 'a', 'b', 9, 1), (1, 2, 't', '{}', '${last.hash}', 'a', 9, 0)`,
    );
    expect((await log.read("s")).map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
  });

  test("a commit of a caller has its number, and its events are read in their order", async () => {
    const commit = (number: number, ...streams: readonly [string, number][]) =>
      inTransaction(db.pool, (client) =>
        appendWithin(
          client,
          streams.map(([stream, version]) => to(stream, version, 2)),
          number,
        ),
      );
    const third = await commit(3, ["z", 0], ["s", 2], ["a", 0]);
    const fourth = await commit(4, ["a", 2], ["z", 2]);
    expect(third.map(({ stream, seq }) => `${stream}${seq}`)).toEqual(["z0", "z1", "s2", "s3", "a0", "a1"]);
    expect(await readCommits(db.pool, 2, 9)).toEqual([...third, ...fourth]);
    expect(await readCommits(db.pool, 3, 9)).toEqual(fourth);
    expect(await readCommits(db.pool, 2, 3)).toEqual(third);
    expect(await log.streams()).toEqual(["s", "z", "a"]);
    await expect(commit(4, ["a", 4])).rejects.toMatchObject({ code: "23505" });
    await expect(commit(5, ["a", 3])).rejects.toMatchObject({ name: "VersionConflict", actualVersion: 4 });
  });

  test("several processes may append to the same streams; each event has one place", async () => {
    const others = Array.from({ length: 3 }, () => openPostgres<unknown>(url, { applicationName: "test" }));
    const appendTen = async (own: AsyncEventLog): Promise<void> => {
      for (let done = 0; done < 10; ) {
        const version = (await own.read("s")).length;
        const outcome = await own.append([to("s", version)]).catch((thrown) => thrown);
        if (Array.isArray(outcome)) done++;
        else expect(outcome).toMatchObject({ name: "VersionConflict" });
      }
    };
    try {
      await Promise.all(others.map(({ pool }) => appendTen(postgresEventLog(pool))));
    } finally {
      await Promise.all(others.map(({ close }) => close()));
    }
    expect((await log.read("s")).map(({ seq }) => seq)).toEqual(Array.from({ length: 32 }, (_, seq) => seq));
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
