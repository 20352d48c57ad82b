import type { ClientBase, Pool } from "pg";
import { type Connection, inTransaction } from "./connection.ts";

/** A step from one version of the tables to the next. Its SQL must not change after a release. */
export interface Migration {
  /** 1, 2, 3 … without gaps. The number of the last one is the version of the tables. */
  readonly number: number;
  readonly name: string;
  /** One or more statements. They must not begin or end a transaction. */
  readonly sql: string;
}

/** Thrown if the tables of a database have another version than this program needs. */
export class OtherSchema extends Error {
  override readonly name = "OtherSchema";
}

/** The advisory lock of migrations, one for each database. */
const LOCK = 7_211_001;

const TABLE = `
  CREATE TABLE IF NOT EXISTS schema_migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`;

/**
 * Runs `body` in a transaction that has the lock of migrations. Processes that call it at the same time wait for each
 * other.
 */
export function inMigration<T>(pool: Pool, body: (client: Connection) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (client) => {
    // A migration of large tables, or the wait for that of another process, may take long.
    await client.query("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0");
    await client.query("SET LOCAL idle_in_transaction_session_timeout = 0");
    await client.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    return body(client);
  });
}

/**
 * Applies the missing migrations in one transaction, and returns them. Throws OtherSchema if the database has a newer
 * version.
 */
export async function migrate(pool: Pool, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  assertNumbers(migrations);
  return inMigration(pool, async (client) => {
    await client.query(TABLE);
    const version = await schemaVersion(client);
    if (version > migrations.length) throw newerSchema(version, migrations.length);
    const missing = migrations.slice(version);
    for (const { number, name, sql } of missing) {
      await client.query(sql);
      await client.query("INSERT INTO schema_migrations (number, name) VALUES ($1, $2)", [number, name]);
    }
    return missing;
  });
}

/** Returns the version of the tables of a database; 0 if it has none. */
export async function schemaVersion(client: ClientBase | Pool): Promise<number> {
  const { rows } = await client.query("SELECT to_regclass('schema_migrations') IS NOT NULL AS found");
  if (!rows[0].found) return 0;
  const found = await client.query("SELECT coalesce(max(number), 0) AS version FROM schema_migrations");
  return found.rows[0].version;
}

/** Throws OtherSchema unless all migrations, and no others, are applied to the database. */
export async function assertSchema(client: ClientBase | Pool, migrations: readonly Migration[]): Promise<void> {
  const version = await schemaVersion(client);
  if (version > migrations.length) throw newerSchema(version, migrations.length);
  if (version < migrations.length) {
    const found =
      version === 0 ? "the database has no tables of a league" : `the tables of the database have version ${version}`;
    throw new OtherSchema(`${found}; this program needs version ${migrations.length}: run "league db migrate"`);
  }
}

const newerSchema = (found: number, known: number): OtherSchema =>
  new OtherSchema(
    `the tables of the database have version ${found}; this program knows versions up to ${known}: use a newer version of the program`,
  );

function assertNumbers(migrations: readonly Migration[]): void {
  if (migrations.some(({ number }, index) => number !== index + 1)) {
    throw new TypeError("migrations are numbered 1, 2, 3 … without gaps");
  }
}
