import { afterEach, expect, it } from "vitest";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { agentDirectory } from "./agent-tokens.ts";
import { SESSION_SCHEMA } from "./session-store.ts";

/** The table as earlier versions of this format created it. */
const WITH_DEFAULT = `CREATE TABLE agents (
  agent_id TEXT PRIMARY KEY,
  token TEXT UNIQUE NOT NULL,
  created_at TEXT NOT NULL DEFAULT (datetime('now'))
) STRICT;`;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

it.each([
  ["a new store", ""],
  ["a store whose table has a default", WITH_DEFAULT],
])("registers an agent with the time of the clock and the given id and token, in %s", async (_, before) => {
  const db = openSqlite(":memory:", before + SESSION_SCHEMA);
  ends.push(() => db.close());
  const clock = manualClock(Date.UTC(2031, 4, 5, 6, 7, 8));
  const ids = { uuid: () => "an id", token: () => "a token" };
  expect(await agentDirectory(db, testWriter(db), clock, ids).register()).toEqual({
    agentId: "an id",
    token: "a token",
  });
  expect(db.prepare("SELECT created_at FROM agents").all()).toMatchObject([{ created_at: "2031-05-05 06:07:08" }]);
});
