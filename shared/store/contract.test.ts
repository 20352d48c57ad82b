import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { GENESIS } from "../lib/hash-chain.ts";
import { type Entry, type LogRow, sealEntry } from "../session/entry.ts";
import { rowsOf } from "../session/testing-rows.ts";
import type { Access, ActionLog, Snapshot } from "./action-log.ts";
import { openSqlite } from "./sqlite.ts";
import { SESSION_SCHEMA, sqliteLog } from "./sqlite-log.ts";
import { ACCESS, AT, newSession, rows, SNAPSHOT, seat } from "./testing-log.ts";
import { threadWriter } from "./writer.ts";

/** A log under test, and an eye that sees what is committed and nothing else. */
interface Opened {
  readonly log: ActionLog;
  committedRows(): number;
  close(): void | Promise<void>;
}

const folder = mkdtempSync(join(tmpdir(), "contract-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newFile = (): string => join(folder, `${++files}.sqlite`);
const count = (db: DatabaseSync, table = "log"): number =>
  db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n as number;

function closeAll(...connections: DatabaseSync[]): void {
  for (const connection of connections) connection.close();
}

/** Adding a store is one line here. */
const stores: Readonly<Record<string, () => Opened>> = {
  "SQLite in a file": () => {
    const file = newFile();
    const db = openSqlite(file, SESSION_SCHEMA);
    const other = new DatabaseSync(file, { readOnly: true });
    return { log: sqliteLog(db), committedRows: () => count(other), close: () => closeAll(other, db) };
  },
  "SQLite in a file, written by a thread": () => {
    const file = newFile();
    const db = openSqlite(file, SESSION_SCHEMA);
    const writer = threadWriter(
      file,
      (reason) => {
        throw reason;
      },
      systemClock,
    );
    const close = async (): Promise<void> => {
      await writer.close();
      db.close();
    };
    return { log: sqliteLog(db, writer), committedRows: () => count(db), close };
  },
  "SQLite in memory": () => {
    const db = openSqlite(":memory:", SESSION_SCHEMA);
    const committedRows = () => {
      if (db.isTransaction) throw new Error("looked at inside of a transaction");
      return count(db);
    };
    return { log: sqliteLog(db), committedRows, close: () => db.close() };
  },
};

const LATER = "2025-01-01T01:00:00.000Z";
const [ROW0, ROW1, ROW2, ROW3] = rows("s1", 3) as [LogRow, LogRow, LogRow, LogRow];
const outcomes = async (promises: Promise<void>[]): Promise<string[]> =>
  (await Promise.allSettled(promises)).map((one) => one.status);

describe.each(Object.entries(stores))("the action log, %s", (_, open) => {
  let store: Opened;
  let log: ActionLog;
  const append = (row: LogRow) => log.append(row, SNAPSHOT);

  beforeEach(async () => {
    store = open();
    log = store.log;
    await log.create(newSession("s1"), ROW0, SNAPSHOT);
  });
  afterEach(() => store.close());

  test("create resolves with the first row committed", async () => {
    const before = store.committedRows();
    const [first] = rows("s2", 0) as [LogRow];
    const committed = log.create(newSession("s2"), first, SNAPSHOT).then(store.committedRows);
    expect(store.committedRows()).toBe(before);
    expect(await committed).toBe(before + 1);
    expect(log.read("s2")).toEqual([first]);
    expect(log.about("s2")).toEqual({ seed: "seed of s2", ...ACCESS });
  });

  test("append resolves only after the commit", async () => {
    const committed = append(ROW1).then(store.committedRows);
    expect(store.committedRows()).toBe(1);
    expect(await committed).toBe(2);
  });

  test("read gives back every character, in order and of this session alone", async () => {
    const whole = rows("s2", 12);
    await Promise.all([
      append(ROW1),
      log.create(newSession("s2"), whole[0] as LogRow, SNAPSHOT),
      ...whole.slice(1).map(append),
    ]);
    expect(log.read("s2")).toEqual(whole);
    expect(log.read("s1")).toEqual([ROW0, ROW1]);
  });

  test("an unknown session has no rows and no seed", () => {
    expect(log.read("nobody")).toEqual([]);
    expect(log.about("nobody")).toBe(null);
  });

  test("appends of one turn of the event loop are committed together", async () => {
    const seen = await Promise.all([ROW1, ROW2, ROW3].map((row) => append(row).then(store.committedRows)));
    expect(seen).toEqual([4, 4, 4]);
  });

  const otherEntry: Entry = { type: "expired", tick: 1, at: AT };
  const bad: Readonly<Record<string, LogRow>> = {
    "a sequence number that is taken": sealEntry("s1", ROW0, otherEntry),
    "the same row once more": ROW1,
    "a second first row": sealEntry("s1", null, otherEntry),
    "a gap": { ...sealEntry("s1", ROW3, otherEntry), seq: 5 },
    "a gap, with the hash of the last row": { ...ROW3, prev_hash: ROW1.hash },
    "a gap, chained to nothing": { ...ROW3, prev_hash: "" },
    "a gap, chained to the genesis": { ...ROW3, prev_hash: GENESIS },
    "a previous hash of another row": { ...ROW2, prev_hash: ROW0.hash },
    "a previous hash in capitals": { ...ROW2, prev_hash: ROW1.hash.toUpperCase() },
    "a negative sequence number": { ...ROW0, seq: -1, prev_hash: "" },
    "an unknown session": { ...ROW0, session_id: "nobody" },
  };

  test.each(Object.entries(bad))("a bad row is refused alone, without a trace: %s", async (_, row) => {
    await append(ROW1);
    expect(await outcomes([append(row)])).toEqual(["rejected"]);
    expect([...log.read("s1"), ...log.read("nobody")]).toEqual([ROW0, ROW1]);
    await append(ROW2);
    expect(log.read("s1")).toEqual([ROW0, ROW1, ROW2]);
  });

  test.each(Object.entries(bad))("its group-mates are kept, those before and those after: %s", async (_, row) => {
    await append(ROW1);
    const whole = rows("s2", 1);
    const create = log.create(newSession("s2"), whole[0] as LogRow, SNAPSHOT);
    const group = [create, append(row), append(whole[1] as LogRow), append(ROW2)];
    expect(await outcomes(group)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect([log.read("s1"), log.read("s2"), log.read("nobody")]).toEqual([[ROW0, ROW1, ROW2], whole, []]);
    expect(store.committedRows()).toBe(5);
  });

  test("what stands alongside is written with its row, and not without it", async () => {
    const agent = (id: string) => [{ sql: "INSERT INTO agents (agent_id, token) VALUES (?, ?)", parameters: [id, id] }];
    await log.append(ROW1, null, agent("with-row-1"));
    const refused = [log.append(ROW1, null, agent("with-row-1-again")), log.append(ROW2, null, agent("with-row-1"))];
    expect(await outcomes(refused)).toEqual(["rejected", "rejected"]);
    expect(log.read("s1")).toEqual([ROW0, ROW1]);
    await log.append(ROW2, null, agent("with-row-1-again"));
  });

  test("quiet are active sessions that are acted by their seats", async () => {
    const create = (id: string, access: Partial<Access>, status: Snapshot["status"] = "active") =>
      log.create(
        { ...newSession(id), ...access, seats: [seat("white", `${id} white`), seat("black", `${id} black`)] },
        rows(id, 0)[0] as LogRow,
        { ...SNAPSHOT, status },
      );
    await Promise.all([create("driven", { actedBy: "driver" }), create("over", {}, "completed"), create("open", {})]);
    const last = Date.parse(AT);
    expect([...log.quietSince(last + 60_000)].sort()).toEqual(["open", "s1"]);
    expect(log.quietSince(last - 60_000)).toEqual([]);
  });

  test("a session is quiet since its last entry with a snapshot, by the time of that entry", async () => {
    const acted: Entry = { type: "acted", tick: 0, role: "white", agent: "agent-1", action: "e2e4", at: LATER };
    const [, row] = rowsOf("s1", [ROW0.body, JSON.stringify(acted)]);
    await append(row as LogRow);
    expect(log.quietSince(Date.parse(LATER))).toEqual([]);
    expect(log.quietSince(Date.parse(LATER) + 1_000)).toEqual(["s1"]);
  });

  test("rows behind a refused one are refused with it", async () => {
    const broken = { ...ROW1, prev_hash: ROW2.hash };
    expect(await outcomes([broken, ROW2, ROW3].map(append))).toEqual(["rejected", "rejected", "rejected"]);
    expect(log.read("s1")).toEqual([ROW0]);
  });

  test("a session is created once, each seat its own agent, and a refused one leaves no trace", async () => {
    const [first] = rows("s2", 0) as [LogRow];
    const oneForBoth = { ...newSession("s2"), seats: [seat("white", "agent-1"), seat("black", "agent-1")] };
    const stolenToken = {
      ...newSession("s2"),
      seats: [{ role: "white", agentId: "thief", tokenHash: "hash of agent-1" }],
    };
    const refused = [
      log.create({ ...newSession("s1"), seed: "another" }, ROW0, SNAPSHOT),
      log.create(oneForBoth, first, SNAPSHOT),
      log.create(stolenToken, first, SNAPSHOT),
      log.create(newSession("s2"), { ...first, seq: 1 }, SNAPSHOT),
    ];
    expect(await outcomes(refused)).toEqual(Array(4).fill("rejected"));
    expect([log.about("s1")?.seed, log.about("s2"), store.committedRows()]).toEqual(["seed of s1", null, 1]);
    await log.create(newSession("s2"), first, SNAPSHOT);
    expect(log.read("s2")).toEqual([first]);
  });
});
