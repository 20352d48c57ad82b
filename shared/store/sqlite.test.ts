import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Generated, Kysely } from "kysely";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Entry, type LogRow, sealEntry } from "../session/entry.ts";
import { appendOnly, kyselyOver, openSqlite } from "./sqlite.ts";
import { SESSION_SCHEMA, sqliteLog } from "./sqlite-log.ts";

const folder = mkdtempSync(join(tmpdir(), "sqlite-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Rows of node:sqlite have no prototype. */
const plain = (rows: readonly object[]): object[] => rows.map((row) => ({ ...row }));

test("openSqlite makes the folder and sets what the store relies on", () => {
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

describe("appendOnly, for any table and key", () => {
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
  ])("refuses %s", (sql) => {
    expect(() => db.exec(sql)).toThrow();
    expect(db.prepare("SELECT count(*) AS n FROM events WHERE body = 'kept'").get()?.n).toBe(3);
  });

  test("takes new rows, alike in a part of the key", () => {
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

  test("inserts and selects, null, text, whole and broken numbers as they are", async () => {
    expect((await insert("A; DROP TABLE players --", 3)).insertId).toBe(1n);
    await insert("Zoë", null);
    const rows = await kysely.selectFrom("players").selectAll().orderBy("id").execute();
    expect(plain(rows)).toEqual([
      { id: 1, name: "A; DROP TABLE players --", points: 3 },
      { id: 2, name: "Zoë", points: null },
    ]);
  });

  test("the same statement again takes its own parameters, also in one turn", async () => {
    await Promise.all([insert("A", 1), insert("B", 2), insert("C", 3)]);
    const pointsOf = (name: string) =>
      kysely.selectFrom("players").select("points").where("name", "=", name).executeTakeFirst();
    expect((await Promise.all(["C", "A", "nobody", "B"].map(pointsOf))).map((row) => row?.points)).toEqual([
      3,
      1,
      undefined,
      2,
    ]);
  });

  test("updates and deletes tell how many, returning gives the rows", async () => {
    await insert("A", 1);
    await insert("B", 1);
    const updated = await kysely.updateTable("players").set({ points: 2 }).where("points", "=", 1).executeTakeFirst();
    expect(updated.numUpdatedRows).toBe(2n);
    const gone = await kysely.deleteFrom("players").where("name", "=", "A").returning("name").execute();
    expect(plain(gone)).toEqual([{ name: "A" }]);
    expect(await names()).toEqual(["B"]);
  });

  test("streams rows", async () => {
    for (const name of ["A", "B", "C"]) await insert(name, 0);
    const seen: string[] = [];
    for await (const row of kysely.selectFrom("players").select("name").orderBy("id").stream()) seen.push(row.name);
    expect(seen).toEqual(["A", "B", "C"]);
  });

  test("a transaction is kept whole", async () => {
    await kysely.transaction().execute(async (inside) => {
      await insert("A", 1, inside);
      expect(db.isTransaction).toBe(true);
      await insert("B", 1, inside);
    });
    expect([await names(), db.isTransaction]).toEqual([["A", "B"], false]);
  });

  test("or undone whole, and the next one works", async () => {
    const failing = kysely.transaction().execute(async (inside) => {
      await insert("A", 1, inside);
      await insert("A", 2, inside);
    });
    await expect(failing).rejects.toThrow(/UNIQUE/);
    expect([await names(), db.isTransaction]).toEqual([[], false]);
    await kysely.transaction().execute((inside) => insert("B", 1, inside));
    expect(await names()).toEqual(["B"]);
  });

  test("what is not of the transaction waits until it is over", async () => {
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
  ])("%s as a parameter is refused, and nothing is written or found by it", async (_, value) => {
    await insert("A", 1);
    const odd = value as unknown as string;
    await expect(
      kysely.updateTable("players").set({ points: 9, name: odd }).where("name", "=", odd).execute(),
    ).rejects.toThrow(TypeError);
    await expect(kysely.selectFrom("players").selectAll().where("name", "=", odd).execute()).rejects.toThrow(TypeError);
    expect(await names()).toEqual(["A"]);
  });
});

describe("the session tables", () => {
  const AT = "2025-01-01T00:00:00.000Z";
  let db: DatabaseSync;
  const all = (sql: string, ...values: string[]) => plain(db.prepare(sql).all(...values));

  beforeEach(() => {
    db = openSqlite(":memory:", SESSION_SCHEMA);
  });
  afterEach(() => db.close());

  /** A session of two seats with these entries behind its first. */
  async function play(entries: readonly Entry[]): Promise<void> {
    const log = sqliteLog(db);
    const participants = { player_1: "A", player_2: "B" };
    const seats = Object.entries(participants).map(([role, agentId]) => ({
      role,
      agentId,
      tokenHash: `hash of ${agentId}`,
    }));
    const created = {
      type: "created",
      session_id: "s1",
      game: "rps.v1",
      options: {},
      participants,
      seed_commitment: "c",
      at: AT,
    } as const;
    let last: LogRow = sealEntry("s1", null, created);
    await log.create(
      { sessionId: "s1", template: "rps.v1", seed: "s", seats, actedBy: "seats", spectators: "none" },
      last,
      {
        state: "{}",
        status: "active",
        tick: 0,
      },
    );
    for (const [index, entry] of entries.entries()) {
      last = sealEntry("s1", last, entry);
      await log.append(last, { state: `{"n":${index}}`, status: "completed", tick: index + 1 });
    }
  }
  const acted = (tick: number, action: unknown): Entry => ({
    type: "acted",
    tick,
    role: "player_2",
    agent: "B",
    action,
    at: AT,
  });

  test.each([
    ["agents", ["agent_id", "token", "created_at"]],
    ["sessions", ["session_id", "template", "state", "status", "tick", "created_at", "updated_at"]],
    ["participants", ["session_id", "agent_id", "role"]],
    ["actions", ["action_id", "session_id", "agent_id", "role", "action", "tick", "created_at"]],
  ])("%s has the document's columns", (table, documented) => {
    const columns = db.prepare("SELECT name FROM pragma_table_info(?)").all(table);
    expect(columns.map((row) => row.name)).toEqual(expect.arrayContaining(documented));
  });

  test("actions shows the acted entries and no others, each under its own id", async () => {
    await play([acted(0, "rock"), acted(1, "paper"), { type: "expired", tick: 2, at: AT }]);
    const row = { session_id: "s1", agent_id: "B", role: "player_2", created_at: AT };
    expect(all("SELECT session_id, agent_id, role, created_at, tick FROM actions ORDER BY tick")).toEqual([
      { ...row, tick: 0 },
      { ...row, tick: 1 },
    ]);
    expect(all("SELECT count(DISTINCT action_id) AS ids FROM actions")).toEqual([{ ids: 2 }]);
  });

  test.each(["rock", 3, { uci: "e2e4" }, ["a", null], null])("action is a JSON blob: %j", async (action) => {
    await play([acted(0, action)]);
    expect(all("SELECT action FROM actions")).toEqual([{ action: JSON.stringify(action) }]);
  });

  test("beside the log stand the latest snapshot, the seats and the hashes of their tokens", async () => {
    await play([acted(0, "rock")]);
    expect(all("SELECT template, state, status, tick FROM sessions")).toEqual([
      { template: "rps.v1", state: '{"n":0}', status: "completed", tick: 1 },
    ]);
    expect(all("SELECT agent_id, role FROM participants ORDER BY role")).toEqual([
      { agent_id: "A", role: "player_1" },
      { agent_id: "B", role: "player_2" },
    ]);
    expect(all("SELECT token FROM agents ORDER BY agent_id")).toEqual([{ token: "hash of A" }, { token: "hash of B" }]);
  });
});
