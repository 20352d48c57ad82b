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
