import { appendOnly } from "#shared/store/sqlite.ts";
import { EVENT_LOG_SCHEMA } from "#shared/store/sqlite-event-log.ts";

/**
 * The tables of the manager. The streams of leagues and agents are authoritative. Personal data, secrets and session logs, which events must not
 * contain, are in other tables. So are the answer times that referees report, on which no decision depends. Snapshots can be deleted at any time.
 */
export const MANAGER_SCHEMA = `
  ${EVENT_LOG_SCHEMA}
  CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS profiles (
    agent_id TEXT PRIMARY KEY,
    display_name TEXT NOT NULL,
    salt TEXT NOT NULL,
    endpoint TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS tokens (
    agent_id TEXT PRIMARY KEY,
    token_hash TEXT UNIQUE NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS session_logs (
    league_id TEXT NOT NULL,
    match_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    seed TEXT NOT NULL,
    log TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    PRIMARY KEY (league_id, match_id, epoch)
  ) STRICT;
  ${appendOnly("session_logs", ["league_id", "match_id", "epoch"])}
  CREATE TABLE IF NOT EXISTS answer_times (
    league_id TEXT NOT NULL,
    player_id TEXT NOT NULL,
    match_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    median_ms INTEGER NOT NULL,
    p95_ms INTEGER NOT NULL,
    max_ms INTEGER NOT NULL,
    max_tick INTEGER NOT NULL,
    invalid INTEGER NOT NULL,
    PRIMARY KEY (league_id, player_id, match_id, epoch)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS snapshots (
    stream TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS snapshot_rounds (
    stream TEXT NOT NULL,
    round_id INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (stream, round_id)
  ) STRICT;
`;
