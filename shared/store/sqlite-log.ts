import type { DatabaseSync } from "node:sqlite";
import { GENESIS } from "../lib/hash-chain.ts";
import type { LogRow } from "../session/entry.ts";
import type { ActionLog, Snapshot } from "./action-log.ts";
import type { Statement } from "./group-commit.ts";
import { appendOnly } from "./sqlite.ts";
import { localWriter, type Writer } from "./writer.ts";

/**
 * The tables of sessions; `actions` is a view of the log. The log names a session by
 * its number (`entries` by its id): what sessions under way write goes to a few pages that lie side by side, where random ids would touch a page for each entry.
 */
export const SESSION_SCHEMA = `
  CREATE TABLE IF NOT EXISTS agents (
    agent_id TEXT PRIMARY KEY,
    token TEXT UNIQUE NOT NULL,
    created_at TEXT NOT NULL DEFAULT (datetime('now'))
  ) STRICT;
  CREATE TABLE IF NOT EXISTS sessions (
    number INTEGER PRIMARY KEY,
    session_id TEXT UNIQUE NOT NULL,
    template TEXT NOT NULL,
    state TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'active',
    tick INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL DEFAULT (datetime('now')),
    updated_at TEXT NOT NULL DEFAULT (datetime('now')),
    seed TEXT NOT NULL,
    acted_by TEXT NOT NULL,
    spectators TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS sessions_open ON sessions (updated_at) WHERE status = 'active' AND acted_by = 'seats';
  CREATE INDEX IF NOT EXISTS sessions_watchable ON sessions (status, created_at DESC, session_id)
    WHERE spectators = 'public' OR acted_by = 'driver';
  CREATE TABLE IF NOT EXISTS participants (
    session_id TEXT NOT NULL REFERENCES sessions(session_id),
    agent_id TEXT NOT NULL REFERENCES agents(agent_id),
    role TEXT NOT NULL,
    PRIMARY KEY (session_id, agent_id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS participants_by_agent ON participants (agent_id);
  CREATE TABLE IF NOT EXISTS log (
    session INTEGER NOT NULL REFERENCES sessions(number),
    seq INTEGER NOT NULL CHECK (seq >= 0),
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    prev_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (session, seq)
  ) STRICT;
  CREATE TRIGGER IF NOT EXISTS log_gapless BEFORE INSERT ON log
    WHEN CASE NEW.seq WHEN 0 THEN NEW.prev_hash <> '${GENESIS}' ELSE NOT EXISTS (
      SELECT 1 FROM log WHERE session = NEW.session AND seq = NEW.seq - 1 AND hash = NEW.prev_hash) END
    BEGIN SELECT RAISE(ABORT, 'log entry does not follow the one before it'); END;
  ${appendOnly("log", ["session", "seq"])}
  CREATE VIEW IF NOT EXISTS entries AS
    SELECT session_id, seq, type, body, prev_hash, hash FROM log JOIN sessions ON sessions.number = log.session;
  CREATE VIEW IF NOT EXISTS actions AS
    SELECT session_id || ':' || seq AS action_id, session_id,
      body ->> '$.agent' AS agent_id, body ->> '$.role' AS role, body -> '$.action' AS action,
      body ->> '$.tick' AS tick, body ->> '$.at' AS created_at
    FROM entries WHERE type = 'acted';
`;

/** The action log in SQLite's tables: read from `db`, written by `writer` to the same database. */
export function sqliteLog(db: DatabaseSync, writer: Writer = localWriter(db)): ActionLog {
  const selectRows = db.prepare(
    "SELECT session_id, seq, type, body, prev_hash, hash FROM entries WHERE session_id = ? ORDER BY seq",
  );
  const selectAbout = db.prepare("SELECT seed, acted_by AS actedBy, spectators FROM sessions WHERE session_id = ?");
  const selectQuiet = db.prepare(
    "SELECT session_id FROM sessions WHERE status = 'active' AND acted_by = 'seats' AND updated_at < datetime(? / 1000, 'unixepoch')",
  );
  return {
    create({ sessionId, template, seed, seats, actedBy, spectators }, first, snapshot, alongside = []) {
      const { state, status, tick } = snapshot;
      return writer.commit([
        ...seats.map((seat) => ({ sql: INSERT_AGENT, parameters: [seat.agentId, seat.tokenHash] })),
        {
          sql: INSERT_SESSION,
          parameters: [sessionId, template, state, status, tick, seed, actedBy, spectators, first.body],
        },
        ...seats.map((seat) => ({ sql: INSERT_SEAT, parameters: [sessionId, seat.agentId, seat.role] })),
        insertRow(first),
        ...alongside,
      ]);
    },
    append: (row, snapshot, alongside = []) =>
      writer.commit([insertRow(row), ...(snapshot ? [updateSession(row, snapshot)] : []), ...alongside]),
    read: (sessionId) => selectRows.all(sessionId).map((row) => ({ ...row })) as unknown as LogRow[],
    about: (sessionId) => (selectAbout.get(sessionId) as ReturnType<ActionLog["about"]> | undefined) ?? null,
    quietSince: (before) => selectQuiet.all(before).map((row) => String(row.session_id)),
  };
}

const INSERT_AGENT = "INSERT INTO agents (agent_id, token) VALUES (?, ?) ON CONFLICT (agent_id) DO NOTHING";
/** A session's times are those of its entries, in SQLite's form. */
const INSERT_SESSION = `INSERT INTO sessions (session_id, template, state, status, tick, seed, acted_by, spectators, created_at, updated_at)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, datetime(?9 ->> '$.at'), datetime(?9 ->> '$.at'))`;
const INSERT_SEAT = "INSERT INTO participants (session_id, agent_id, role) VALUES (?, ?, ?)";
const INSERT_ROW = `INSERT INTO log (session, seq, type, body, prev_hash, hash)
  VALUES ((SELECT number FROM sessions WHERE session_id = ?), ?, ?, ?, ?, ?)`;
const UPDATE_SESSION =
  "UPDATE sessions SET state = ?, status = ?, tick = ?, updated_at = datetime(? ->> '$.at') WHERE session_id = ?";

const insertRow = (row: LogRow): Statement => ({
  sql: INSERT_ROW,
  parameters: [row.session_id, row.seq, row.type, row.body, row.prev_hash, row.hash],
});

const updateSession = ({ session_id, body }: LogRow, { state, status, tick }: Snapshot): Statement => ({
  sql: UPDATE_SESSION,
  parameters: [state, status, tick, body, session_id],
});
