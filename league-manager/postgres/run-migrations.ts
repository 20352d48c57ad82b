import { appendOnly, EVENT_LOG_TABLES } from "#shared/store/postgres/log-statements.ts";
import type { Migration } from "#shared/store/postgres/migrations.ts";

/**
 * The tables of the manager besides the log. They have the columns of the tables in SQLite, see `MANAGER_SCHEMA` in store/manager-store.ts. Figures
 * that referees report are bigint, because a value outside the range of its column would end the manager.
 */
const MANAGER_TABLES = `
  DO $$ BEGIN
    IF current_setting('server_encoding') <> 'UTF8' THEN
      RAISE EXCEPTION 'the database has the encoding %, which does not have every character: create it with ENCODING UTF8',
        current_setting('server_encoding');
    END IF;
  END $$;
  -- The order of the run. The events of a commit have its number.
  CREATE TABLE commits (
    number bigint PRIMARY KEY CHECK (number > 0),
    id uuid NOT NULL UNIQUE,
    at timestamptz NOT NULL
  );
  ${appendOnly("commits")}
  CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL);
  CREATE TABLE profiles (
    agent_id text PRIMARY KEY,
    display_name text NOT NULL,
    salt text NOT NULL,
    endpoint text NOT NULL
  );
  CREATE TABLE tokens (agent_id text PRIMARY KEY, token_hash text NOT NULL UNIQUE);
  -- The last commit that wrote or erased the profile of an agent.
  CREATE TABLE profile_changes (agent_id text PRIMARY KEY, commit_number bigint NOT NULL);
  CREATE INDEX ON profile_changes (commit_number);
  CREATE TABLE session_logs (
    league_id text NOT NULL,
    match_id text NOT NULL,
    epoch integer NOT NULL,
    seed text NOT NULL,
    log text NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (league_id, match_id, epoch)
  );
  ${appendOnly("session_logs")}
  CREATE TABLE answer_times (
    league_id text NOT NULL,
    player_id text NOT NULL,
    match_id text NOT NULL,
    epoch integer NOT NULL,
    turns bigint NOT NULL,
    median_ms bigint NOT NULL,
    p95_ms bigint NOT NULL,
    max_ms bigint NOT NULL,
    max_tick bigint NOT NULL,
    invalid bigint NOT NULL,
    PRIMARY KEY (league_id, player_id, match_id, epoch)
  );
  CREATE TABLE snapshots (stream text PRIMARY KEY, seq integer NOT NULL, body text NOT NULL);
  CREATE TABLE snapshot_rounds (
    stream text NOT NULL,
    round_id integer NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (stream, round_id)
  );
  CREATE TABLE managers (id text COLLATE "C" PRIMARY KEY, url text NOT NULL, seen_at timestamptz NOT NULL);
`;

/** The versions of the tables of a run. A migration must not change after a release: add another one. */
export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: "event log", sql: EVENT_LOG_TABLES },
  { number: 2, name: "tables of the manager", sql: MANAGER_TABLES },
];
