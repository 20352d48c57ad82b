import { sql } from "kysely";
import { expect, test } from "vitest";
import { kyselyOver, openSqlite } from "./sqlite.ts";

test("who asked is told when the file can take no more, and of no lesser fault", async () => {
  const db = openSqlite(":memory:", "CREATE TABLE one (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
  const told: string[] = [];
  const tables = await kyselyOver<{ one: { id: number; text: string } }>(db, ({ message }) => told.push(message));
  const insert = (id: number, text: string) => tables.insertInto("one").values({ id, text }).execute();
  await insert(1, "a");
  await expect(insert(1, "again")).rejects.toThrow("UNIQUE");
  expect(told).toEqual([]);
  db.exec("PRAGMA max_page_count = 4");
  await expect(insert(2, "x".repeat(100_000))).rejects.toThrow("full");
  expect(told).toEqual([expect.stringContaining("full")]);
  await tables.destroy();
});

test("a code that only extends one of those is told too", async () => {
  const db = openSqlite(
    ":memory:",
    `CREATE TABLE one (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
     CREATE VIRTUAL TABLE words USING fts5(text, content = 'one', content_rowid = 'id');
     INSERT INTO one VALUES (1, 'a text that the index does not have');`,
  );
  const told: Error[] = [];
  const tables = await kyselyOver<object>(db, (error) => told.push(error));
  const check = sql`INSERT INTO words (words, rank) VALUES ('integrity-check', 1)`.execute(tables);
  await expect(check).rejects.toThrow("malformed");
  expect(told).toMatchObject([{ errcode: 267 }]); // SQLITE_CORRUPT_VTAB
  await tables.destroy();
});
