import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { GENESIS } from "#shared/lib/hash.ts";
import type { EventLog, RecordedEvent } from "./event-log.ts";
import { openSqlite } from "./sqlite.ts";
import { EVENT_LOG_SCHEMA, sqliteEventLog } from "./sqlite-event-log.ts";
import { events } from "./testing/event-log.ts";
import { testWriter } from "./testing/writer.ts";

const folder = mkdtempSync(join(tmpdir(), "sqlite-event-log-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

describe("the event log in a SQLite file, seen from another connection", () => {
  let file: string;
  let db: DatabaseSync;
  let log: EventLog;
  /** A second connection, without recursive_triggers. */
  let other: DatabaseSync;
  let recorded: readonly RecordedEvent[];
  const append = (expectedVersion: number) => log.append([{ stream: "s", expectedVersion, events: events(1) }]);
  const close = (): void => {
    other.close();
    db.close();
  };
  const open = (): void => {
    db = openSqlite(file, EVENT_LOG_SCHEMA);
    other = new DatabaseSync(file);
    log = sqliteEventLog(db, testWriter(db));
  };

  beforeEach(async () => {
    file = join(folder, `${++files}.sqlite`);
    open();
    recorded = [await append(0), await append(1)].flat();
  });
  afterEach(close);

  const columns = "stream, seq, type, body, prev_hash, hash";
  const forged = (prevHash: string): string => `'counted', 'forged', '${prevHash}', 'h'`;
  test.each([
    "UPDATE log SET body = 'forged'",
    "UPDATE OR REPLACE log SET seq = 0 WHERE seq = 1",
    "DELETE FROM log",
    "DELETE FROM log WHERE seq = 1",
    `INSERT OR REPLACE INTO log (${columns}) VALUES (1, 1, ${forged("x")})`,
    `REPLACE INTO log (${columns}) SELECT 1, 1, type, 'forged', prev_hash, 'h' FROM log WHERE seq = 1`,
    `REPLACE INTO log (${columns}) VALUES (1, 0, ${forged(GENESIS)})`,
    `INSERT INTO log (${columns}) VALUES (1, 1, ${forged("x")}) ON CONFLICT DO UPDATE SET body = 'forged'`,
    `REPLACE INTO log (rowid, ${columns}) SELECT 1, 2, 0, ${forged(GENESIS)}`,
    `REPLACE INTO log (rowid, ${columns}) SELECT 1, 1, 2, 'counted', 'forged', hash, 'h' FROM log WHERE seq = 1`,
    "UPDATE streams SET name = 'forged'",
    "UPDATE streams SET number = 2",
    "DELETE FROM streams",
    "REPLACE INTO streams (number, name) VALUES (1, 'forged')",
    "REPLACE INTO streams (number, name) VALUES (2, 's')",
    "INSERT INTO streams (number, name) VALUES (1, 's') ON CONFLICT DO UPDATE SET name = 'forged'",
  ])("a row cannot be updated, deleted or replaced: %s", (sql) => {
    other.exec("PRAGMA foreign_keys = OFF");
    for (const connection of [other, db]) expect(() => connection.exec(sql)).toThrow(/append-only|follow/);
    expect([log.read("s"), log.streams()]).toEqual([recorded, ["s"]]);
  });

  test.each([
    ["a gap", (last: RecordedEvent) => [1, 3, last.hash]],
    ["a previous hash of another event", (last: RecordedEvent) => [1, 2, last.prev_hash]],
    ["a previous hash in capitals", (last: RecordedEvent) => [1, 2, last.hash.toUpperCase()]],
    ["the genesis hash as previous hash of a later event", () => [1, 2, GENESIS]],
    ["a first event whose previous hash is not the genesis hash", (last: RecordedEvent) => [2, 0, last.hash]],
    ["a negative sequence number", () => [1, -1, GENESIS]],
    ["a stream that does not exist", () => [3, 0, GENESIS]],
  ] as const)("an event that does not follow the preceding event is rejected: %s", (_, position) => {
    other.exec("INSERT INTO streams (number, name) VALUES (2, 'new')");
    const insert = other.prepare(`INSERT INTO log (${columns}) VALUES (?, ?, 'counted', '{}', ?, 'h')`);
    expect(() => insert.run(...position(recorded[1] as RecordedEvent))).toThrow(/follow|CHECK|FOREIGN KEY/);
    expect(log.read("s")).toEqual(recorded);
  });

  test("the log is unchanged after reopening and continues after its last event", async () => {
    close();
    open();
    expect(log.read("s")).toEqual(recorded);
    await expect(append(1)).rejects.toThrow("stream s has 2 events, not 1");
    expect(await append(2)).toMatchObject([{ seq: 2, prev_hash: recorded[1]?.hash }]);
    expect(() => db.exec("DELETE FROM log")).toThrow(/append-only/);
  });

  test("an append waits for an open transaction on the connection, whose rollback does not undo the append", async () => {
    db.exec("BEGIN");
    let isSettled = false;
    const pending = append(2).then(() => {
      isSettled = true;
    });
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(isSettled).toBe(false);
    db.exec("ROLLBACK");
    await pending;
    expect(other.prepare("SELECT count(*) AS n FROM log").get()).toEqual({ n: 3 });
  });

  test("a file that stays locked fails the whole group without an effect; later appends are accepted", async () => {
    db.exec("PRAGMA busy_timeout = 1");
    other.exec("BEGIN IMMEDIATE");
    const settled = await Promise.allSettled([append(2), append(3)]);
    other.exec("ROLLBACK");
    expect(settled).toMatchObject([
      { status: "rejected", reason: { message: expect.stringContaining("database is locked") } },
      { status: "rejected", reason: { name: "VersionConflict", actualVersion: 2 } },
    ]);
    await append(2);
    expect(log.read("s")).toHaveLength(3);
  });

  test("an append that builds on a failed append is a conflict with the database error as its cause", async () => {
    const failing = { sql: "INSERT INTO streams (number, name) VALUES (9, 's')", parameters: [] };
    const failed = log.append([{ stream: "s", expectedVersion: 2, events: events(1) }], [failing]);
    const [first, second] = await Promise.allSettled([failed, append(3)]);
    expect(first).toMatchObject({ reason: { message: expect.stringContaining("streams is append-only") } });
    expect(second).toMatchObject({
      reason: { actualVersion: 2, cause: { message: expect.stringContaining("does not follow") } },
    });
  });
});
