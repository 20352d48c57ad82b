import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { GENESIS } from "../lib/hash-chain.ts";
import type { LogRow } from "../session/entry.ts";
import type { ActionLog } from "./action-log.ts";
import { openSqlite } from "./sqlite.ts";
import { SESSION_SCHEMA, sqliteLog } from "./sqlite-log.ts";
import { newSession, rows, SNAPSHOT } from "./testing-log.ts";

const folder = mkdtempSync(join(tmpdir(), "sqlite-log-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newFile = (): string => join(folder, `${++files}.sqlite`);
const count = (db: DatabaseSync): number => db.prepare("SELECT count(*) AS n FROM log").get()?.n as number;

function closeAll(...connections: DatabaseSync[]): void {
  for (const connection of connections) connection.close();
}

const [ROW0, ROW1, ROW2, ROW3] = rows("s1", 3) as [LogRow, LogRow, LogRow, LogRow];
const outcomes = async (promises: Promise<void>[]): Promise<string[]> =>
  (await Promise.allSettled(promises)).map((one) => one.status);

describe("the action log, SQLite in a file, from outside", () => {
  let file: string;
  let db: DatabaseSync;
  let log: ActionLog;
  /** Somebody else's connection, without recursive_triggers. */
  let other: DatabaseSync;

  beforeEach(async () => {
    file = newFile();
    db = openSqlite(file, SESSION_SCHEMA);
    other = new DatabaseSync(file);
    log = sqliteLog(db);
    await log.create(newSession("s1"), ROW0, SNAPSHOT);
    await log.append(ROW1, { state: '{"fen":"…"}', status: "completed", tick: 1 });
  });
  afterEach(() => closeAll(other, db));

  /** Commits in the write-ahead log: frames that carry the size of the database after them. */
  function commits(): number {
    const wal = readFileSync(`${file}-wal`);
    const frame = 24 + wal.readUInt32BE(8);
    const frames = Array.from({ length: Math.floor((wal.length - 32) / frame) }, (_, index) => 32 + index * frame);
    return frames.filter((at) => wal.readUInt32BE(at + 4) !== 0).length;
  }

  test("a seat with another agent's token is refused by name, not dropped", async () => {
    const [first] = rows("s2", 0) as [LogRow];
    const seats = [{ role: "white", agentId: "thief", tokenHash: "hash of agent-1" }];
    const created = log.create({ ...newSession("s2"), seats }, first, SNAPSHOT);
    await expect(created).rejects.toThrow("UNIQUE constraint failed: agents.token");
  });

  test("appends of one turn share one transaction, those of two turns do not", async () => {
    const whole = rows("s2", 40);
    const before = commits();
    await Promise.all([
      log.create(newSession("s2"), whole[0] as LogRow, SNAPSHOT),
      ...whole.slice(1).map((row) => log.append(row, SNAPSHOT)),
    ]);
    expect(commits()).toBe(before + 1);
    await log.append(ROW2, SNAPSHOT);
    await log.append(ROW3, SNAPSHOT);
    expect(commits()).toBe(before + 3);
  });

  test("a session is quiet from its latest snapshot on, whatever else was appended to it", async () => {
    other.exec("UPDATE sessions SET status = 'active', updated_at = '2000-01-01 00:00:00'");
    const longAgo = Date.parse("2000-01-02");
    await log.append(ROW2, null);
    expect(log.quietSince(longAgo)).toEqual(["s1"]);
    await log.append(ROW3, SNAPSHOT);
    expect(log.quietSince(longAgo)).toEqual([]);
  });

  const columns = "session, seq, type, body, prev_hash, hash";
  const values = `'acted', 'forged', '${ROW0.hash}', 'h'`;
  test.each([
    "UPDATE log SET body = 'forged'",
    "UPDATE OR REPLACE log SET seq = 0 WHERE seq = 1",
    "DELETE FROM log",
    "DELETE FROM log WHERE seq = 1",
    `INSERT OR REPLACE INTO log (${columns}) VALUES (1, 1, ${values})`,
    `REPLACE INTO log (${columns}) VALUES (1, 1, ${values})`,
    `REPLACE INTO log (${columns}) VALUES (1, 0, 'created', 'forged', '${GENESIS}', 'h')`,
    `INSERT INTO log (${columns}) VALUES (1, 1, ${values}) ON CONFLICT DO UPDATE SET body = 'forged'`,
    `REPLACE INTO log (rowid, ${columns}) SELECT 1, 2, 0, 'created', 'forged', '${GENESIS}', 'h'`,
    `REPLACE INTO log (rowid, ${columns}) SELECT 1, 1, 2, 'acted', 'forged', hash, 'h' FROM log WHERE seq = 1`,
  ])("nothing updates, deletes or replaces a row: %s", (sql) => {
    other.exec("PRAGMA foreign_keys = OFF");
    for (const connection of [other, db]) expect(() => connection.exec(sql)).toThrow();
    expect(log.read("s1")).toEqual([ROW0, ROW1]);
  });

  test("survives reopening, and goes on where it was", async () => {
    closeAll(other, db);
    db = openSqlite(file, SESSION_SCHEMA);
    other = new DatabaseSync(file);
    log = sqliteLog(db);
    expect([log.read("s1"), log.about("s1")?.seed]).toEqual([[ROW0, ROW1], "seed of s1"]);
    await log.append(ROW2, SNAPSHOT);
    expect(await outcomes([log.append(ROW1, SNAPSHOT)])).toEqual(["rejected"]);
    expect(() => db.exec("DELETE FROM log")).toThrow(/append-only/);
    expect(log.read("s1")).toEqual([ROW0, ROW1, ROW2]);
  });

  test("waits out somebody else's open transaction on its connection, and keeps out of it", async () => {
    db.exec("BEGIN");
    let settled = false;
    const pending = log.append(ROW2, SNAPSHOT).then(() => (settled = true));
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toBe(false);
    db.exec("ROLLBACK");
    await pending;
    expect(count(other)).toBe(3);
  });

  test("a file locked for too long fails the whole group without a trace; later appends are taken", async () => {
    db.exec("PRAGMA busy_timeout = 1");
    other.exec("BEGIN IMMEDIATE");
    expect(await outcomes([log.append(ROW2, SNAPSHOT), log.append(ROW3, SNAPSHOT)])).toEqual(["rejected", "rejected"]);
    other.exec("ROLLBACK");
    await log.append(ROW2, SNAPSHOT);
    expect(log.read("s1")).toEqual([ROW0, ROW1, ROW2]);
  });
});
