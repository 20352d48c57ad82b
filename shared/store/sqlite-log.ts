import type { DatabaseSync } from "node:sqlite";
import { GENESIS, type LogRow } from "../session/entry.ts";
import type { ActionLog } from "./action-log.ts";
import { appendOnly } from "./sqlite.ts";

/** The source document's tables (state-machine-host.md, section 5), with columns added; `actions` is a view of the log. */
export const SESSION_SCHEMA = `
  CREATE TABLE IF NOT EXISTS agents (
    agent_id TEXT PRIMARY KEY,
    token TEXT UNIQUE NOT NULL,
    created_at TEXT NOT NULL DEFAULT (datetime('now'))
  ) STRICT;
  CREATE TABLE IF NOT EXISTS sessions (
    session_id TEXT PRIMARY KEY,
    template TEXT NOT NULL,
    state TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'active',
    tick INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL DEFAULT (datetime('now')),
    updated_at TEXT NOT NULL DEFAULT (datetime('now')),
    seed TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS participants (
    session_id TEXT NOT NULL REFERENCES sessions(session_id),
    agent_id TEXT NOT NULL REFERENCES agents(agent_id),
    role TEXT NOT NULL,
    PRIMARY KEY (session_id, agent_id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS log (
    session_id TEXT NOT NULL REFERENCES sessions(session_id),
    seq INTEGER NOT NULL CHECK (seq >= 0),
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    prev_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (session_id, seq)
  ) STRICT;
  CREATE TRIGGER IF NOT EXISTS log_gapless BEFORE INSERT ON log
    WHEN CASE NEW.seq WHEN 0 THEN NEW.prev_hash <> '${GENESIS}' ELSE NOT EXISTS (
      SELECT 1 FROM log WHERE session_id = NEW.session_id AND seq = NEW.seq - 1 AND hash = NEW.prev_hash) END
    BEGIN SELECT RAISE(ABORT, 'log entry does not follow the one before it'); END;
  ${appendOnly("log", ["session_id", "seq"])}
  CREATE VIEW IF NOT EXISTS actions AS
    SELECT session_id || ':' || seq AS action_id, session_id,
      json_extract(body, '$.agent') AS agent_id, json_extract(body, '$.role') AS role,
      body -> '$.action' AS action, json_extract(body, '$.tick') AS tick,
      json_extract(body, '$.at') AS created_at
    FROM log WHERE type = 'acted';
`;

interface Pending {
  readonly write: () => void;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The action log on SQLite by prepared statements: one transaction for all appends of one event-loop turn. */
export function sqliteLog(db: DatabaseSync): ActionLog {
  const insertAgent = db.prepare("INSERT OR IGNORE INTO agents (agent_id, token) VALUES (?, ?)");
  const insertSession = db.prepare(
    "INSERT INTO sessions (session_id, template, state, status, tick, seed) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const insertSeat = db.prepare("INSERT INTO participants (session_id, agent_id, role) VALUES (?, ?, ?)");
  const insertRow = db.prepare(
    "INSERT INTO log (session_id, seq, type, body, prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const updateSession = db.prepare(
    "UPDATE sessions SET state = ?, status = ?, tick = ?, updated_at = datetime('now') WHERE session_id = ?",
  );
  const selectRows = db.prepare(
    "SELECT session_id, seq, type, body, prev_hash, hash FROM log WHERE session_id = ? ORDER BY seq",
  );
  const selectSeed = db.prepare("SELECT seed FROM sessions WHERE session_id = ?");

  const writeRow = (row: LogRow): void => {
    insertRow.run(row.session_id, row.seq, row.type, row.body, row.prev_hash, row.hash);
  };
  const commit = groupCommit(db);

  return {
    create: (session, first, snapshot, alongside) =>
      commit(() => {
        const { sessionId, template, seed, seats } = session;
        for (const seat of seats) insertAgent.run(seat.agentId, seat.tokenHash);
        insertSession.run(sessionId, template, snapshot.state, snapshot.status, snapshot.tick, seed);
        for (const seat of seats) insertSeat.run(sessionId, seat.agentId, seat.role);
        writeRow(first);
        alongside?.(sessionId);
      }),
    append: (row, snapshot) =>
      commit(() => {
        writeRow(row);
        if (snapshot) updateSession.run(snapshot.state, snapshot.status, snapshot.tick, row.session_id);
      }),
    read: (sessionId: string) => selectRows.all(sessionId).map((row) => ({ ...row })) as unknown as LogRow[],
    seedOf: (sessionId: string) => (selectSeed.get(sessionId)?.seed as string | undefined) ?? null,
  };
}

/**
 * Runs writes in one transaction per event-loop turn. If one of them throws, the group is rolled back and each is tried in a
 * savepoint of its own, so that the bad one fails alone; a failed commit fails all. A turn in which somebody else's
 * transaction is open on this connection is waited out.
 */
function groupCommit(db: DatabaseSync): (write: () => void) => Promise<void> {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  let group: Pending[] = [];

  const transact = (body: () => readonly Pending[]): readonly Pending[] => {
    begin.run();
    try {
      const written = body();
      commit.run();
      return written;
    } catch (thrown) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw thrown;
    }
  };
  const all = (pending: readonly Pending[]) => () => {
    for (const one of pending) one.write();
    return pending;
  };
  const eachAlone = (pending: readonly Pending[]) => () => pending.filter((one) => attempt(db, one));

  const flush = (): void => {
    if (db.isTransaction) {
      setImmediate(flush);
      return;
    }
    const pending = group;
    group = [];
    try {
      let written: readonly Pending[];
      try {
        written = transact(all(pending));
      } catch {
        written = transact(eachAlone(pending));
      }
      for (const one of written) one.resolve();
    } catch (thrown) {
      for (const one of pending) one.reject(thrown);
    }
  };

  return (write) =>
    new Promise((resolve, reject) => {
      if (group.length === 0) setImmediate(flush);
      group.push({ write, resolve, reject });
    });
}

/** True when written; a row that breaks a constraint is rejected and undone, anything graver throws. */
function attempt(db: DatabaseSync, one: Pending): boolean {
  db.exec("SAVEPOINT entry");
  try {
    one.write();
    db.exec("RELEASE entry");
    return true;
  } catch (thrown) {
    if (!db.isTransaction) throw thrown; // SQLite gave up the whole transaction (disk full, I/O error)
    db.exec("ROLLBACK TO entry");
    db.exec("RELEASE entry");
    one.reject(thrown);
    return false;
  }
}
