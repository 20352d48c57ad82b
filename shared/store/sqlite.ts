import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { Kysely } from "kysely";

/** An open database. */
export type Database = DatabaseSync;

/**
 * The format of the databases of this version. Increase it when a change of the tables makes earlier files unusable.
 */
const FORMAT = 2;

/** Thrown if a database file was written in a format that this version cannot read. */
export class OtherFormat extends Error {
  readonly #fact: string;
  constructor(fact: string, advice = "use the version that wrote it, or choose a new data folder") {
    super(`${fact}: ${advice}`);
    this.#fact = fact;
  }

  /** Returns the same error with other advice for the operator. */
  withAdvice(advice: string): OtherFormat {
    return new OtherFormat(this.#fact, advice);
  }
}

const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA recursive_triggers = ON;
  PRAGMA busy_timeout = 2000;
`;

/**
 * Opens a SQLite file, or a database in memory for `:memory:`, and creates the missing tables of `schema`. Every commit
 * is synced to disk, foreign keys are enforced, and triggers also fire for the delete inside an `INSERT OR REPLACE`.
 * Throws OtherFormat if the file has another format.
 */
export function openSqlite(file: string, schema: string): DatabaseSync {
  if (file !== ":memory:") mkdirSync(dirname(file), { recursive: true });
  const db = new DatabaseSync(file);
  const isEmpty = formatOf(db, file) === null;
  db.exec(SETTINGS);
  // One transaction, because each statement outside a transaction would wait for the disk.
  db.exec(`BEGIN; ${schema}; ${isEmpty ? `PRAGMA user_version = ${FORMAT};` : ""} COMMIT;`);
  return db;
}

/**
 * Opens a file that another connection of this process has open. Throws if the file was deleted in the meantime: a new
 * file in its place would share the write-ahead log of the deleted one, and damage what the other connection reads.
 */
export function openAgain(file: string): DatabaseSync {
  const existing = pathToFileURL(file);
  existing.searchParams.set("mode", "rw");
  const db = new DatabaseSync(existing);
  db.exec(SETTINGS);
  return db;
}

/**
 * Runs reads in one transaction, so that they do not see commits that other connections make between them. No other
 * work may use the connection until they have ended.
 */
export async function inReadTransaction<T>(db: DatabaseSync, read: () => T | Promise<T>): Promise<T> {
  db.exec("BEGIN");
  try {
    return await read();
  } finally {
    db.exec("ROLLBACK");
  }
}

/**
 * Returns the format number of a database; null for an empty one. Closes the database and throws OtherFormat if it has
 * another format than this version.
 */
function formatOf(db: DatabaseSync, file: string): number | null {
  const written = Number(db.prepare("PRAGMA user_version").get()?.user_version);
  // Format 1 was written without a number.
  const format = written || (db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() ? 1 : null);
  if (format === null || format === FORMAT) return format;
  db.close();
  throw new OtherFormat(
    `${file} was written by format ${format} of this program; this version writes format ${FORMAT}`,
  );
}

/** Throws OtherFormat if an existing file has another format. Does not change the file. */
export function checkFormat(file: string): void {
  if (!existsSync(file)) return;
  const db = new DatabaseSync(file);
  formatOf(db, file);
  db.close();
}

/** The time that a process waits for a lock. A command that looks whether a file is in use has its lock for a moment. */
const LOCK_WAIT_MS = 250;

/**
 * Locks a database file until `release` is called or the process ends in any way. Returns null if another process has
 * the lock for longer than `waitMs`. Two hosts on one file would each rely on a state in memory that the other does not update.
 */
export function lockFile(file: string, waitMs = LOCK_WAIT_MS): { release(): void } | null {
  mkdirSync(dirname(file), { recursive: true });
  const lock = new DatabaseSync(`${file}.lock`);
  try {
    lock.exec(`PRAGMA busy_timeout = ${waitMs}; BEGIN EXCLUSIVE;`);
  } catch {
    lock.close();
    return null;
  }
  return { release: () => lock.close() };
}

/**
 * Returns the first table of a file, by name, whose columns differ from those that a schema gives it. Returns null if
 * there is none or if the file does not exist. Throws OtherFormat if the file has another format.
 */
export function mismatchedTable(file: string, schema: string): string | null {
  if (!existsSync(file)) return null;
  const columns = (name: string, schema: string): ReadonlyMap<string, string> => {
    const db = new DatabaseSync(name);
    formatOf(db, name);
    try {
      db.exec(schema);
      const tables = db.prepare(
        `SELECT t.name AS name, group_concat(c.name || ' ' || c.type || ' ' || c.pk, ', ' ORDER BY c.cid) AS columns
         FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' GROUP BY t.name`,
      );
      return new Map(tables.all().map((table) => [String(table.name), String(table.columns)]));
    } finally {
      db.close();
    }
  };
  const existing = columns(file, "");
  for (const [table, expected] of columns(":memory:", schema)) {
    if (existing.has(table) && existing.get(table) !== expected) return table;
  }
  return null;
}

/**
 * Returns triggers that make a table append-only for every connection: no UPDATE, no DELETE, and no REPLACE by its key
 * or by its rowid (if it has one), even from a connection without recursive triggers.
 */
export function appendOnly(table: string, key: readonly string[]): string {
  const hasSameKey = key.map((column) => `${column} = NEW.${column}`).join(" AND ");
  const reject = `BEGIN SELECT RAISE(ABORT, '${table} is append-only'); END;`;
  return `
    CREATE TRIGGER IF NOT EXISTS ${table}_no_update BEFORE UPDATE ON ${table} ${reject}
    CREATE TRIGGER IF NOT EXISTS ${table}_no_delete BEFORE DELETE ON ${table} ${reject}
    CREATE TRIGGER IF NOT EXISTS ${table}_no_replace BEFORE INSERT ON ${table}
      WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${hasSameKey}) OR EXISTS (SELECT 1 FROM ${table} WHERE rowid = NEW.rowid) ${reject}
  `;
}

/**
 * Returns Kysely over an open database. All queries outside the path of a match use it, so that they can run on
 * PostgreSQL unchanged. Kysely is imported here because that takes a quarter of a second, and a referee that only plays
 * matches does not need it. Parameters must be primitives: node:sqlite would read an object as named parameters and
 * shift the positional ones.
 */
export async function kyselyOver<Tables>(db: DatabaseSync): Promise<Kysely<Tables>> {
  const { Kysely, SqliteDialect } = await import("kysely");
  const statements = new Map<string, StatementSync>();
  return new Kysely<Tables>({
    dialect: new SqliteDialect({
      database: {
        prepare(sql: string) {
          const statement = statements.get(sql) ?? db.prepare(sql);
          statements.set(sql, statement);
          return adapt(statement);
        },
        close: () => db.close(),
      },
    }),
  });
}

const adapt = (statement: StatementSync) => ({
  reader: statement.columns().length > 0,
  all: (parameters: readonly unknown[]) => statement.all(...primitives(parameters)),
  run: (parameters: readonly unknown[]) => statement.run(...primitives(parameters)),
  iterate: (parameters: readonly unknown[]) => statement.iterate(...primitives(parameters)),
});

function primitives(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "bigint")
      return value;
    throw new TypeError(`a query parameter must be a string, a number or null, not ${typeof value}`);
  });
}
