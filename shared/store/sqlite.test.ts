import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import type { Generated, Kysely } from "kysely";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { appendOnly, inReadTransaction, kyselyOver, lockFile, openSqlite } from "./sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "sqlite-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Rows of node:sqlite have no prototype. */
const plain = (rows: readonly object[]): object[] => rows.map((row) => ({ ...row }));

test("openSqlite creates the folder and sets the pragmas that the store relies on", () => {
  const file = join(folder, "a", "b", "data.sqlite");
  const db = openSqlite(file, "CREATE TABLE IF NOT EXISTS t (a)");
  const pragma = (name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  const [wal, full, on] = ["wal", 2, 1];
  expect(existsSync(file)).toBe(true);
  expect(["journal_mode", "synchronous", "foreign_keys", "recursive_triggers"].map(pragma)).toEqual([
    wal,
    full,
    on,
    on,
  ]);
  expect(pragma("busy_timeout")).toBeGreaterThan(0);
  db.close();
  openSqlite(file, "CREATE TABLE IF NOT EXISTS t (a)").close();
});

test("inReadTransaction hides commits of other connections, and ends its transaction even if a read throws", async () => {
  const file = join(folder, "read.sqlite");
  const [db, other] = [openSqlite(file, "CREATE TABLE IF NOT EXISTS t (a)"), openSqlite(file, "")];
  const count = () => db.prepare("SELECT count(*) AS n FROM t").get()?.n;
  const failing = () => {
    throw new Error("unreadable");
  };
  const counts = await inReadTransaction(db, () => [count(), other.exec("INSERT INTO t VALUES (1)"), count()]);
  expect(counts).toEqual([0, undefined, 0]);
  expect(count()).toBe(1);
  await expect(inReadTransaction(db, failing)).rejects.toThrow("unreadable");
  expect(db.isTransaction).toBe(false);
  for (const connection of [db, other]) connection.close();
});

describe("a table with the triggers of appendOnly", () => {
  let db: DatabaseSync;
  beforeEach(() => {
    const schema =
      "CREATE TABLE IF NOT EXISTS events (league TEXT, seq INTEGER, body TEXT, UNIQUE (league, seq)) STRICT;";
    db = openSqlite(":memory:", schema + appendOnly("events", ["league", "seq"]));
    db.exec(
      "PRAGMA recursive_triggers = OFF; INSERT INTO events VALUES ('a', 1, 'kept'), ('a', 2, 'kept'), ('b', 1, 'kept')",
    );
  });
  afterEach(() => db.close());

  test.each([
    "UPDATE events SET body = 'x'",
    "DELETE FROM events",
    "INSERT INTO events VALUES ('a', 1, 'x')",
    "REPLACE INTO events VALUES ('a', 1, 'x')",
    "INSERT OR REPLACE INTO events VALUES ('b', 1, 'x')",
    "REPLACE INTO events (rowid, league, seq, body) VALUES (1, 'c', 1, 'x')",
  ])("rejects %s", (sql) => {
    expect(() => db.exec(sql)).toThrow();
    expect(db.prepare("SELECT count(*) AS n FROM events WHERE body = 'kept'").get()?.n).toBe(3);
  });

  test("accepts new rows that share a part of their key", () => {
    db.exec("INSERT INTO events VALUES ('a', 3, 'new'), ('b', 2, 'new')");
    expect(db.prepare("SELECT count(*) AS n FROM events").get()?.n).toBe(5);
  });
});

interface Tables {
  players: { id: Generated<number>; name: string; points: number | null };
}

describe("kyselyOver", () => {
  let db: DatabaseSync;
  let kysely: Kysely<Tables>;
  beforeEach(async () => {
    db = openSqlite(
      ":memory:",
      "CREATE TABLE players (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, points INTEGER) STRICT",
    );
    kysely = await kyselyOver<Tables>(db);
  });
  afterEach(() => kysely.destroy());

  const insert = (name: string, points: number | null, over: Kysely<Tables> = kysely) =>
    over.insertInto("players").values({ name, points }).executeTakeFirstOrThrow();
  const names = async () =>
    (await kysely.selectFrom("players").select("name").orderBy("id").execute()).map((row) => row.name);

  test("inserts and selects null, text and numbers unchanged", async () => {
    expect((await insert("A; DROP TABLE players --", 3)).insertId).toBe(1n);
    await insert("Zoë", null);
    const rows = await kysely.selectFrom("players").selectAll().orderBy("id").execute();
    expect(plain(rows)).toEqual([
      { id: 1, name: "A; DROP TABLE players --", points: 3 },
      { id: 2, name: "Zoë", points: null },
    ]);
  });

  test("runs one statement with different parameters, even in one turn of the event loop", async () => {
    await Promise.all([insert("A", 1), insert("B", 2), insert("C", 3)]);
    const pointsOf = (name: string) =>
      kysely.selectFrom("players").select("points").where("name", "=", name).executeTakeFirst();
    expect((await Promise.all(["C", "A", "unknown", "B"].map(pointsOf))).map((row) => row?.points)).toEqual([
      3,
      1,
      undefined,
      2,
    ]);
  });

  test("reports the number of updated rows, and returns deleted rows with `returning`", async () => {
    await insert("A", 1);
    await insert("B", 1);
    const updated = await kysely.updateTable("players").set({ points: 2 }).where("points", "=", 1).executeTakeFirst();
    expect(updated.numUpdatedRows).toBe(2n);
    const deleted = await kysely.deleteFrom("players").where("name", "=", "A").returning("name").execute();
    expect(plain(deleted)).toEqual([{ name: "A" }]);
    expect(await names()).toEqual(["B"]);
  });

  test("streams rows", async () => {
    for (const name of ["A", "B", "C"]) await insert(name, 0);
    const seen: string[] = [];
    for await (const row of kysely.selectFrom("players").select("name").orderBy("id").stream()) seen.push(row.name);
    expect(seen).toEqual(["A", "B", "C"]);
  });

  test("commits all statements of a transaction", async () => {
    await kysely.transaction().execute(async (inside) => {
      await insert("A", 1, inside);
      expect(db.isTransaction).toBe(true);
      await insert("B", 1, inside);
    });
    expect([await names(), db.isTransaction]).toEqual([["A", "B"], false]);
  });

  test("rolls back all statements of a failed transaction, and accepts the next transaction", async () => {
    const failing = kysely.transaction().execute(async (inside) => {
      await insert("A", 1, inside);
      await insert("A", 2, inside);
    });
    await expect(failing).rejects.toThrow(/UNIQUE/);
    expect([await names(), db.isTransaction]).toEqual([[], false]);
    await kysely.transaction().execute((inside) => insert("B", 1, inside));
    expect(await names()).toEqual(["B"]);
  });

  test("runs other statements after an open transaction has ended", async () => {
    const order: string[] = [];
    const transaction = kysely.transaction().execute(async (inside) => {
      await insert("inside", 1, inside);
      await new Promise((resolve) => setImmediate(resolve));
      order.push("end of the transaction");
    });
    const outside = insert("outside", 1).then(() => order.push("outside"));
    await Promise.all([transaction, outside]);
    expect([order, await names()]).toEqual([
      ["end of the transaction", "outside"],
      ["inside", "outside"],
    ]);
  });

  test.each([
    ["a Date", new Date(0)],
    ["an object", { name: "A" }],
    ["undefined", undefined],
    ["a boolean", true],
    ["bytes", new Uint8Array(2)],
  ])("rejects %s as a parameter, and neither writes nor finds a row", async (_, value) => {
    await insert("A", 1);
    const parameter = value as unknown as string;
    await expect(
      kysely.updateTable("players").set({ points: 9, name: parameter }).where("name", "=", parameter).execute(),
    ).rejects.toThrow(TypeError);
    await expect(kysely.selectFrom("players").selectAll().where("name", "=", parameter).execute()).rejects.toThrow(
      TypeError,
    );
    expect(await names()).toEqual(["A"]);
  });
});

test("lockFile waits for a process that has the lock for a moment, and not for one that keeps it", async () => {
  const file = join(folder, "locked");
  const holder = new Worker(
    `const { DatabaseSync } = require("node:sqlite");
     const { parentPort, workerData } = require("node:worker_threads");
     const lock = new DatabaseSync(workerData);
     lock.exec("BEGIN EXCLUSIVE");
     parentPort.postMessage("locked");
     setTimeout(() => lock.close(), 50);`,
    { eval: true, workerData: `${file}.lock` },
  );
  await once(holder, "message");
  const lock = lockFile(file, 10_000);
  expect(lock).not.toBeNull();
  expect([lockFile(file), lockFile(file, 0)]).toEqual([null, null]);
  lock?.release();
});
