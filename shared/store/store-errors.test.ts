import { expect, test } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { openSqlite } from "./sqlite.ts";
import { isBroken } from "./store-errors.ts";
import { localWriter } from "./writer.ts";

test("a local writer reports a full database as broken, but not a violated constraint", async () => {
  const db = openSqlite(":memory:", "CREATE TABLE one (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
  const reported: string[] = [];
  const writer = localWriter(db, systemClock, ({ message }) => reported.push(message));
  const insert = (id: number, text: string) =>
    writer.commit([{ sql: "INSERT INTO one (id, text) VALUES (?, ?)", parameters: [id, text] }]);
  await insert(1, "a");
  await expect(insert(1, "again")).rejects.toThrow("UNIQUE");
  expect(reported).toEqual([]);
  db.exec("PRAGMA max_page_count = 4");
  await expect(insert(2, "x".repeat(100_000))).rejects.toThrow("full");
  expect([...new Set(reported)]).toEqual([expect.stringContaining("full")]);
  db.close();
});

test("isBroken recognizes the extended result code of a corrupt file", () => {
  const db = openSqlite(
    ":memory:",
    `CREATE TABLE one (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
     CREATE VIRTUAL TABLE words USING fts5(text, content = 'one', content_rowid = 'id');
     INSERT INTO one VALUES (1, 'a text that the index does not have');`,
  );
  const thrownBy = (sql: string): unknown => {
    try {
      return db.exec(sql);
    } catch (thrown) {
      return thrown;
    }
  };
  const damaged = thrownBy("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)");
  expect(damaged).toMatchObject({ errcode: 267 }); // SQLITE_CORRUPT_VTAB
  expect([isBroken(damaged), isBroken(thrownBy("no SQL")), isBroken("malformed")]).toEqual([true, false, false]);
  db.close();
});
