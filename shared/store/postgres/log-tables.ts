import { GENESIS } from "../../lib/hash-chain.ts";

/** The functions of the triggers, by their names, with their bodies. `league db check` compares them with those of a database. */
export const TRIGGER_FUNCTIONS = {
  reject_change: `
    BEGIN
      RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
    END `,
  check_log_gapless: `
    BEGIN
      IF EXISTS (
        SELECT 1 FROM added WHERE prev_hash IS DISTINCT FROM CASE seq WHEN 0 THEN '${GENESIS}'
          ELSE (SELECT hash FROM log WHERE log.stream = added.stream AND log.seq = added.seq - 1) END)
      THEN
        RAISE EXCEPTION 'log entry does not follow the one before it' USING ERRCODE = 'integrity_constraint_violation';
      END IF;
      RETURN NULL;
    END `,
} as const;

/**
 * Returns a trigger that rejects UPDATE, DELETE and TRUNCATE on a table, also by its owner. The trigger fires for every
 * value of session_replication_role. The function of the trigger is created by `EVENT_LOG_TABLES`.
 */
export const appendOnly = (table: string): string => `
  CREATE TRIGGER ${table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table}
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
  ALTER TABLE ${table} ENABLE ALWAYS TRIGGER ${table}_append_only;
`;

/** Returns the tables that migrations make append-only. */
export const appendOnlyTables = (migrations: readonly { readonly sql: string }[]): readonly string[] =>
  migrations.flatMap(({ sql }) =>
    [...sql.matchAll(/CREATE TRIGGER \w+_append_only .* ON (\w+)/g)].map(([, table = ""]) => table),
  );

/**
 * The tables of the event log. `commit_number` and `commit_index` are the position of an event in the order of all
 * events. The gapless check runs once for each statement. A connection keeps its plan, and one that is made while the log
 * is short would read the whole table, so sequential scans are off.
 */
export const EVENT_LOG_TABLES = `
  CREATE TABLE streams (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" UNIQUE NOT NULL
  );
  CREATE TABLE log (
    stream integer NOT NULL REFERENCES streams (number),
    seq integer NOT NULL CHECK (seq >= 0),
    type text NOT NULL,
    body text NOT NULL,
    prev_hash text NOT NULL,
    hash text NOT NULL,
    commit_number bigint NOT NULL CHECK (commit_number >= 1),
    commit_index integer NOT NULL CHECK (commit_index >= 0),
    PRIMARY KEY (stream, seq),
    UNIQUE (commit_number, commit_index)
  );
  CREATE FUNCTION check_log_gapless() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off
    AS $$${TRIGGER_FUNCTIONS.check_log_gapless}$$;
  CREATE TRIGGER log_gapless AFTER INSERT ON log REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION check_log_gapless();
  ALTER TABLE log ENABLE ALWAYS TRIGGER log_gapless;
  CREATE FUNCTION reject_change() RETURNS trigger LANGUAGE plpgsql AS $$${TRIGGER_FUNCTIONS.reject_change}$$;
  ${appendOnly("streams")}
  ${appendOnly("log")}
`;
