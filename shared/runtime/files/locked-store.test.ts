import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { openSqlite } from "../../store/sqlite.ts";
import { StartError } from "../process/exit.ts";
import { openLockedStore } from "./locked-store.ts";

const folder = mkdtempSync(join(tmpdir(), "locked-store-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const open = (file: string, schema: string) => openLockedStore(file, schema, systemClock, () => {});
const newFile = (): string => join(folder, `${++files}.sqlite`);
const ADVICE = "Restore it from a copy, or move it away to begin with an empty one.";
const SCHEMA = "CREATE TABLE IF NOT EXISTS items (name TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT;";

describe("a locked store", () => {
  test("cannot be opened again while it is open", () => {
    const file = newFile();
    const first = open(file, SCHEMA);
    expect(() => open(file, SCHEMA)).toThrow(new StartError(`${file} is in use by another process`));
    first.close();
    open(file, SCHEMA).close();
  });

  test.each([
    ["a missing column", "CREATE TABLE items (name TEXT PRIMARY KEY) STRICT"],
    ["a column with another name", "CREATE TABLE items (name TEXT PRIMARY KEY, total INTEGER NOT NULL) STRICT"],
    ["a column with another type", "CREATE TABLE items (name TEXT PRIMARY KEY, amount TEXT NOT NULL) STRICT"],
    ["another primary key", "CREATE TABLE items (name TEXT, amount INTEGER PRIMARY KEY) STRICT"],
  ])(
    "of another version with %s is rejected with the name of the table at each start, and not changed",
    (_, schema) => {
      const file = newFile();
      openSqlite(file, schema).close();
      const message = /\.sqlite was made by another version of this program \(its table items has different columns\)/;
      for (const _attempt of [1, 2])
        expect(() => open(file, `${SCHEMA} CREATE TABLE IF NOT EXISTS labels (n TEXT);`)).toThrow(message);
      const db = openSqlite(file, "");
      const tables = db.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table'").all();
      db.close();
      expect(tables).toEqual([{ sql: schema }]);
    },
  );

  test.each([
    ["an earlier version", "PRAGMA user_version = 0", 1],
    ["a later version", "PRAGMA user_version = 3", 3],
  ])("in the format of %s is rejected with both formats at each start, and not changed", (_, change, format) => {
    const file = newFile();
    const before = openSqlite(file, SCHEMA);
    before.exec(change);
    before.close();
    const bytes = readFileSync(file);
    const message = `${file} was written by format ${format} of this program; this version writes format 2: use the version that wrote it, or choose a new data folder`;
    for (const _attempt of [1, 2]) expect(() => open(file, SCHEMA)).toThrow(new StartError(message));
    expect(readFileSync(file)).toEqual(bytes);
  });

  test.each([
    ["not a database", "this is not a database, but long enough to be taken for one page of it; ".repeat(100)],
    ["a truncated database", "SQLite format 3\0".padEnd(100, "x")],
  ])("that is %s is rejected with a message, and unlocked", (_, text) => {
    const file = newFile();
    writeFileSync(file, text);
    for (const _attempt of [1, 2]) {
      expect(() => open(file, SCHEMA)).toThrow(new StartError(`${file} is damaged: file is not a database. ${ADVICE}`));
    }
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("gets missing tables and keeps the rows of the existing ones", () => {
    const file = newFile();
    const before = openSqlite(file, SCHEMA);
    before.exec("INSERT INTO items VALUES ('apple', 3)");
    before.close();
    const { db, close } = open(file, `${SCHEMA} CREATE TABLE IF NOT EXISTS labels (name TEXT) STRICT;`);
    expect(db.prepare("SELECT * FROM items").all()).toEqual([{ name: "apple", amount: 3 }]);
    expect(db.prepare("SELECT * FROM labels").all()).toEqual([]);
    close();
  });
});
