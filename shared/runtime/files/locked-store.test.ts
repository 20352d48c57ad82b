import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { openSqlite } from "../../store/sqlite.ts";
import { StartError } from "../process/exit.ts";
import { openLockedStore } from "./locked-store.ts";

const folder = mkdtempSync(join(tmpdir(), "own-store-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const open = (file: string, schema: string) => openLockedStore(file, schema, systemClock, () => {});
const newFile = (): string => join(folder, `${++files}.sqlite`);
const MENDING = "Restore it from a copy, or move it away to begin with an empty one.";
const HEN = "CREATE TABLE IF NOT EXISTS hens (name TEXT PRIMARY KEY, eggs INTEGER NOT NULL) STRICT;";

describe("a store of one's own", () => {
  test("is refused to another process for as long as it is open", () => {
    const file = newFile();
    const first = open(file, HEN);
    expect(() => open(file, HEN)).toThrow(new StartError(`${file} is in use by another process`));
    first.close();
    open(file, HEN).close();
  });

  test.each([
    ["a column less", "CREATE TABLE hens (name TEXT PRIMARY KEY) STRICT"],
    ["a column of another name", "CREATE TABLE hens (name TEXT PRIMARY KEY, chicks INTEGER NOT NULL) STRICT"],
    ["a column of another type", "CREATE TABLE hens (name TEXT PRIMARY KEY, eggs TEXT NOT NULL) STRICT"],
    ["another key", "CREATE TABLE hens (name TEXT, eggs INTEGER PRIMARY KEY) STRICT"],
  ])("that another version made, with %s, is refused by name, each time, and left as it is", (_, schema) => {
    const file = newFile();
    openSqlite(file, schema).close();
    const told = /\.sqlite was made by another version of this program \(its table hens has other columns\)/;
    for (const _time of [1, 2])
      expect(() => open(file, `${HEN} CREATE TABLE IF NOT EXISTS cocks (n TEXT);`)).toThrow(told);
    const db = openSqlite(file, "");
    const tables = db.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table'").all();
    db.close();
    expect(tables).toEqual([{ sql: schema }]);
  });

  test.each([
    ["an earlier version", "PRAGMA user_version = 0", 1],
    ["a later version", "PRAGMA user_version = 3", 3],
  ])(
    "that %s wrote in another format is rejected with both formats at each start, and not changed",
    (_, change, format) => {
      const file = newFile();
      const before = openSqlite(file, HEN);
      before.exec(change);
      before.close();
      const bytes = readFileSync(file);
      const told = `${file} was written by format ${format} of this program; this version writes format 2: use the version that wrote it, or choose a new data folder`;
      for (const _time of [1, 2]) expect(() => open(file, HEN)).toThrow(new StartError(told));
      expect(readFileSync(file)).toEqual(bytes);
    },
  );

  test.each([
    ["no database", "this is no database, but long enough to be taken for one page of it; ".repeat(100)],
    ["a database cut off", "SQLite format 3\0".padEnd(100, "x")],
  ])("that is %s is refused in words, and let go", (_, text) => {
    const file = newFile();
    writeFileSync(file, text);
    for (const _time of [1, 2]) {
      expect(() => open(file, HEN)).toThrow(new StartError(`${file} is damaged: file is not a database. ${MENDING}`));
    }
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("may get tables that it did not have, and keeps what is in the others", () => {
    const file = newFile();
    const before = openSqlite(file, HEN);
    before.exec("INSERT INTO hens VALUES ('Berta', 3)");
    before.close();
    const { db, close } = open(file, `${HEN} CREATE TABLE IF NOT EXISTS cocks (name TEXT) STRICT;`);
    expect(db.prepare("SELECT * FROM hens").all()).toEqual([{ name: "Berta", eggs: 3 }]);
    expect(db.prepare("SELECT * FROM cocks").all()).toEqual([]);
    close();
  });
});
