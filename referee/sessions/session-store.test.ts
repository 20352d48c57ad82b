import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Entry, eventOf } from "#shared/session/entry.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { type NewSession, SESSION_SCHEMA, type SessionStore, type Snapshot, sessionStore } from "./session-store.ts";

const AT = "2025-01-01T00:00:00.000Z";
const SNAPSHOT: Snapshot = { state: "{}", status: "active", tick: 0 };
const seat = (role: string, agentId: string) => ({ role, agentId, tokenHash: `hash of ${agentId}` });
const newSession = (sessionId: string, overrides: Partial<NewSession> = {}): NewSession => ({
  sessionId,
  template: "rps.v1",
  seed: `seed of ${sessionId}`,
  actedBy: "seats",
  spectators: "public",
  seats: [seat("player_1", `${sessionId} A`), seat("player_2", `${sessionId} B`)],
  ...overrides,
});
const acted = (tick: number, action: unknown): Entry => {
  return { type: "acted", tick, role: "player_2", agent: "B", action, at: AT };
};

let db: DatabaseSync;
let store: SessionStore;
const all = (sql: string) =>
  db
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }));

beforeEach(() => {
  db = openSqlite(":memory:", SESSION_SCHEMA);
  store = sessionStore(db, testWriter(db));
});
afterEach(() => db.close());

function add(session: NewSession, snapshot = SNAPSHOT) {
  const created: Entry = {
    type: "created",
    session_id: session.sessionId,
    game: "rps.v1",
    options: {},
    participants: {},
    seed_commitment: "c",
    at: AT,
  };
  const append = { stream: session.sessionId, expectedVersion: 0, events: [eventOf(created)] };
  return store.log.append([append], store.adding(session, snapshot, AT));
}

/** Adds the session `s1` with these entries after its first one. */
async function play(entries: readonly Entry[]): Promise<void> {
  await add(newSession("s1"));
  for (const [index, entry] of entries.entries()) {
    const snapshot: Snapshot = { state: `{"n":${index}}`, status: "completed", tick: index + 1 };
    const append = { stream: "s1", expectedVersion: index + 1, events: [eventOf(entry)] };
    await store.log.append([append], [store.updating("s1", snapshot, AT)]);
  }
}

describe("the session tables", () => {
  test("the times of a session and of its agents are those of its first entry", async () => {
    await add(newSession("s1"));
    expect(all("SELECT created_at, updated_at FROM sessions")).toEqual([
      { created_at: "2025-01-01 00:00:00", updated_at: "2025-01-01 00:00:00" },
    ]);
    expect(all("SELECT DISTINCT created_at FROM agents")).toEqual([{ created_at: "2025-01-01 00:00:00" }]);
  });

  test.each([
    ["agents", ["agent_id", "token", "created_at"]],
    ["sessions", ["session_id", "template", "state", "status", "tick", "created_at", "updated_at"]],
    ["participants", ["session_id", "agent_id", "role"]],
    ["actions", ["action_id", "session_id", "agent_id", "role", "action", "tick", "created_at"]],
  ])("%s has the documented columns", (table, documented) => {
    const columns = db.prepare("SELECT name FROM pragma_table_info(?)").all(table);
    expect(columns.map((row) => row.name)).toEqual(expect.arrayContaining(documented));
  });

  test("columns are required, refer to each other and have the documented defaults", () => {
    const columnsOf = (table: string) =>
      new Map(
        db
          .prepare("SELECT * FROM pragma_table_info(?)")
          .all(table)
          .map((row) => [row.name, row]),
      );
    const sessions = columnsOf("sessions");
    expect([sessions.get("status")?.dflt_value, sessions.get("tick")?.dflt_value]).toEqual(["'active'", "0"]);
    for (const column of ["template", "state", "status", "tick", "created_at", "updated_at"])
      expect(sessions.get(column), column).toMatchObject({ notnull: 1 });
    for (const column of ["token", "created_at"]) expect(columnsOf("agents").get(column)).toMatchObject({ notnull: 1 });
    expect(columnsOf("agents").get("agent_id")).toMatchObject({ pk: 1 });
    const participants = columnsOf("participants");
    expect(["session_id", "agent_id", "role"].map((name) => participants.get(name)?.pk)).toEqual([1, 2, 0]);
    const references = db.prepare('SELECT "table", "from", "to" FROM pragma_foreign_key_list(?)').all("participants");
    expect(references.map((row) => ({ ...row }))).toEqual(
      expect.arrayContaining([
        { table: "sessions", from: "session_id", to: "session_id" },
        { table: "agents", from: "agent_id", to: "agent_id" },
      ]),
    );
    const add = () => db.exec("INSERT INTO participants VALUES ('no session', 'no agent', 'white')");
    expect(add).toThrow(/FOREIGN KEY/);
  });

  test("actions contains the acted entries and no others, each with a different id", async () => {
    await play([acted(0, "rock"), acted(1, "paper"), { type: "expired", tick: 2, at: AT }]);
    const row = { session_id: "s1", agent_id: "B", role: "player_2", created_at: AT };
    expect(all("SELECT session_id, agent_id, role, created_at, tick FROM actions ORDER BY tick")).toEqual([
      { ...row, tick: 0 },
      { ...row, tick: 1 },
    ]);
    expect(all("SELECT count(DISTINCT action_id) AS ids FROM actions")).toEqual([{ ids: 2 }]);
  });

  test("entries contains the log of each session under its id", async () => {
    await play([acted(0, "rock")]);
    await add(newSession("s2"));
    for (const id of ["s1", "s2"]) {
      const recorded = store.log.read(id).map(({ stream, ...event }) => ({ session_id: stream, ...event }));
      expect(all(`SELECT * FROM entries WHERE session_id = '${id}' ORDER BY seq`)).toEqual(recorded);
    }
  });

  test.each(["rock", 3, { uci: "e2e4" }, ["a", null], null])("action is a JSON blob: %j", async (action) => {
    await play([acted(0, action)]);
    expect(all("SELECT action FROM actions")).toEqual([{ action: JSON.stringify(action) }]);
  });

  test("the tables contain the latest snapshot, the seats and the hashes of their tokens", async () => {
    await play([acted(0, "rock")]);
    expect(all("SELECT template, state, status, tick FROM sessions")).toEqual([
      { template: "rps.v1", state: '{"n":0}', status: "completed", tick: 1 },
    ]);
    const at = "2025-01-01 00:00:00";
    expect(all("SELECT created_at, updated_at FROM sessions")).toEqual([{ created_at: at, updated_at: at }]);
    expect(all("SELECT agent_id, role FROM participants ORDER BY role")).toEqual([
      { agent_id: "s1 A", role: "player_1" },
      { agent_id: "s1 B", role: "player_2" },
    ]);
    expect(all("SELECT token FROM agents ORDER BY agent_id")).toEqual([
      { token: "hash of s1 A" },
      { token: "hash of s1 B" },
    ]);
  });
});

describe("the session store", () => {
  test("returns the game, the seed and the access rules of a session, and null for an unknown session", async () => {
    await add(newSession("s1", { spectators: "none" }));
    expect(store.about("s1")).toEqual({ game: "rps.v1", seed: "seed of s1", actedBy: "seats", spectators: "none" });
    expect(store.about("s2")).toBe(null);
  });

  test("a session is created once with a different agent for each seat, and a rejected creation writes nothing", async () => {
    await add(newSession("s1"));
    const oneForBoth = [seat("player_1", "agent"), seat("player_2", "agent")];
    const thief = [{ role: "player_1", agentId: "thief", tokenHash: "hash of s1 A" }];
    await expect(add(newSession("s1", { seed: "another" }))).rejects.toThrow("stream s1 has 1 events, not 0");
    await expect(add(newSession("s2", { seats: oneForBoth }))).rejects.toThrow(
      "UNIQUE constraint failed: participants",
    );
    await expect(add(newSession("s2", { seats: thief }))).rejects.toThrow("UNIQUE constraint failed: agents.token");
    expect([store.log.streams(), store.about("s1")?.seed, store.about("s2")]).toEqual([["s1"], "seed of s1", null]);
    expect(all("SELECT agent_id FROM agents ORDER BY agent_id")).toHaveLength(2);
    await add(newSession("s2"));
    expect(store.log.read("s2")).toHaveLength(1);
  });

  test("quietSince returns active sessions that are played by their seats", async () => {
    await add(newSession("driven", { actedBy: "driver" }));
    await add(newSession("over"), { ...SNAPSHOT, status: "completed" });
    await add(newSession("open"));
    const last = Date.parse(AT);
    expect(store.quietSince(last + 60_000)).toEqual(["open"]);
    expect(store.quietSince(last - 60_000)).toEqual([]);
  });

  test("countByGame counts the active sessions that are played by their seats", async () => {
    expect(store.countByGame()).toEqual(new Map());
    await add(newSession("driven", { actedBy: "driver" }));
    await add(newSession("over"), { ...SNAPSHOT, status: "completed" });
    for (const id of ["s1", "s2"]) await add(newSession(id));
    await add(newSession("s3", { template: "chess.v1" }));
    expect(store.countByGame()).toEqual(
      new Map([
        ["chess.v1", 1],
        ["rps.v1", 2],
      ]),
    );
  });

  test("quietSince compares the time of the last entry with a snapshot", async () => {
    await add(newSession("s1"));
    const at = "2025-01-01T01:00:00.000Z";
    const append = { stream: "s1", expectedVersion: 1, events: [eventOf({ ...acted(0, "rock"), at })] };
    await store.log.append([append], [store.updating("s1", SNAPSHOT, at)]);
    expect(store.quietSince(Date.parse(at))).toEqual([]);
    expect(store.quietSince(Date.parse(at) + 1_000)).toEqual(["s1"]);
  });

  test("an entry without a snapshot does not change the time of the session's last activity", async () => {
    await add(newSession("s1"));
    await store.log.append([{ stream: "s1", expectedVersion: 1, events: [eventOf(acted(0, "rock"))] }]);
    expect(store.quietSince(Date.parse(AT) + 1_000)).toEqual(["s1"]);
  });
});
