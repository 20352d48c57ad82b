import { expect, it, vi } from "vitest";
import { rps } from "#shared/games/rps.ts";
import { type Entry, eventOf } from "#shared/session/entry.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { sqliteEventLog } from "#shared/store/sqlite-event-log.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { SEAT_SCHEMA } from "./seats.ts";
import { SESSION_SCHEMA, sessionLists } from "./session-store.ts";

const AT = "2026-11-21T20:00:00.000Z";
const CLOCK = { now: () => Date.parse("2026-11-22T10:05:00Z") };

/** Adds streams, numbered from 1, with one entry each. */
const addStreams = (db: ReturnType<typeof openSqlite>, entries: Readonly<Record<string, unknown>>) =>
  sqliteEventLog(db, testWriter(db)).append(
    Object.entries(entries).map(([stream, entry]) => ({
      stream,
      expectedVersion: 0,
      events: [eventOf(entry as Entry)],
    })),
  );

it.each([
  [
    "a state of another version",
    "chess.v1",
    '{"fen":"x"}',
    { type: "acted", tick: 0, role: "white", agent: "a", action: "e2e4", at: AT },
  ],
  ["a state without fields", "rps.v1", "{}", { type: "aborted", tick: 0, reason: "bot_failed", at: AT }],
  ["an entry of unknown type", "rps.v1", "{}", { type: "adjourned", at: AT }],
  ["a game that no longer exists", "go.v1", "{}", { type: "aborted", tick: 0, reason: "bot_failed", at: AT }],
] as const)(
  "a session with %s is listed without a result, and other games are listed",
  async (_, template, state, last) => {
    const db = openSqlite(":memory:", SESSION_SCHEMA + SEAT_SCHEMA);
    await addStreams(db, { old: last, new: last });
    db.prepare(
      `INSERT INTO sessions (stream, session_id, template, state, status, seed, acted_by, spectators, created_at, updated_at)
     VALUES (1, 'old', ?1, ?2, 'completed', 'seed', 'seats', 'public', ?3, ?3),
       (2, 'new', 'rps.v1', '{}', 'active', 'seed', 'seats', 'public', ?3, ?3)`,
    ).run(template, state, "2026-11-22 09:05:00");
    const games = await sessionLists(db, CLOCK).watchable(10);
    expect(games.map(({ game_id, result }) => [game_id, result])).toEqual([
      ["new", null],
      ["old", null],
    ]);
    db.close();
  },
);

it("the list of games is read in order from an index, without a sort", async () => {
  const db = openSqlite(":memory:", SESSION_SCHEMA + SEAT_SCHEMA);
  const prepare = vi.spyOn(db, "prepare");
  await sessionLists(db, CLOCK).watchable(10);
  const sql = prepare.mock.calls.map(([text]) => text).find((text) => text.includes('order by "status"')) ?? "";
  const plan = db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all("public", "driver", "active", "driver", 0, "completed", 1, "expired", 10);
  expect(plan.map(({ detail }) => detail)).toEqual([
    "SCAN sessions USING INDEX sessions_watchable",
    expect.stringMatching(/^CORRELATED SCALAR SUBQUERY/),
    expect.stringMatching(/^SEARCH log USING INDEX/),
  ]);
  db.close();
});

it("the list of games has creation times in UTC", async () => {
  const db = openSqlite(":memory:", SESSION_SCHEMA + SEAT_SCHEMA);
  await addStreams(db, { new: { type: "expired", tick: 0, at: AT } });
  db.exec(`INSERT INTO sessions (stream, session_id, template, state, created_at, updated_at, seed, acted_by, spectators)
    VALUES (1, 'new', 'rps.v1', '{}', '2026-11-22 09:05:00', '2026-11-22 09:05:00', 'seed', 'seats', 'public')`);
  expect(await sessionLists(db, CLOCK).watchable(10)).toMatchObject([
    { game_id: "new", created_at: "2026-11-22T09:05:00Z" },
  ]);
  db.close();
});

it("an unfinished game is listed until an hour has passed since its last action, a league match always", async () => {
  const db = openSqlite(":memory:", SESSION_SCHEMA + SEAT_SCHEMA);
  const entry = { type: "expired", tick: 0, at: AT };
  await addStreams(db, { recent: entry, abandoned: entry, match: entry });
  db.exec(`INSERT INTO sessions (stream, session_id, template, state, created_at, updated_at, seed, acted_by, spectators)
    VALUES (1, 'recent', 'rps.v1', '{}', '2026-11-22 07:00:00', '2026-11-22 09:05:00', 'seed', 'seats', 'public'),
      (2, 'abandoned', 'rps.v1', '{}', '2026-11-22 08:00:00', '2026-11-22 09:04:59', 'seed', 'seats', 'public'),
      (3, 'match', 'rps.v1', '{}', '2026-11-22 06:00:00', '2026-11-22 06:00:00', 'seed', 'driver', 'none')`);
  const games = await sessionLists(db, CLOCK).watchable(10);
  expect(games.map(({ game_id }) => game_id)).toEqual(["recent", "match"]);
  db.close();
});

it("a game that has expired is not listed, and leaves its place to older games", async () => {
  const db = openSqlite(":memory:", SESSION_SCHEMA + SEAT_SCHEMA);
  const expired = { type: "expired", tick: 0, at: AT };
  const aborted = { type: "aborted", tick: 0, reason: "bot_failed", at: AT };
  await addStreams(db, { one: expired, two: expired, aborted });
  const state = JSON.stringify(rps.initialState({ options: rps.options.parse({}), seed: "" }));
  for (const [stream, id] of [
    [1, "one"],
    [2, "two"],
    [3, "aborted"],
  ] as const)
    db.prepare(
      `INSERT INTO sessions (stream, session_id, template, state, status, seed, acted_by, spectators, created_at, updated_at)
       VALUES (?, ?, 'rps.v1', ?, 'completed', 'seed', 'seats', 'public', ?, '2026-11-22 09:05:00')`,
    ).run(stream, id, state, `2026-11-22 09:0${5 - stream}:00`);
  expect((await sessionLists(db, CLOCK).watchable(1)).map(({ game_id }) => game_id)).toEqual(["aborted"]);
  db.close();
});
