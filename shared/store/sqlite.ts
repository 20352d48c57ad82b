import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { Kysely } from "kysely";

/** An open database. */
export type Database = DatabaseSync;

/** The format of the databases of this version. Increase it with every change of their tables that an earlier file would not fit. */
const FORMAT = 2;

/** A database file was written by a version of this program that uses another format. */
export class OtherFormat extends Error {
  readonly #fact: string;
  constructor(fact: string, advice = "use the version that wrote it, or choose a new data folder") {
    super(`${fact}: ${advice}`);
    this.#fact = fact;
  }

  /** The same error with other advice for the person at the terminal. */
  advising(advice: string): OtherFormat {
    return new OtherFormat(this.#fact, advice);
  }
}

/**
 * Opens a SQLite file (`:memory:` for none) for one process: WAL, every commit synced to disk, foreign keys on, and
 * triggers that also see the delete inside an `INSERT OR REPLACE`. Throws OtherFormat for a file of another format.
 */
export function openSqlite(file: string, schema: string): DatabaseSync {
  if (file !== ":memory:") mkdirSync(dirname(file), { recursive: true });
  const db = new DatabaseSync(file);
  const isEmpty = formatOf(db, file) === null;
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA recursive_triggers = ON;
    PRAGMA busy_timeout = 2000;
  `);
  // One transaction, because each statement outside of one would wait for the disk.
  db.exec(`BEGIN; ${schema}; ${isEmpty ? `PRAGMA user_version = ${FORMAT};` : ""} COMMIT;`);
  return db;
}

/** Runs reads in one transaction: they see none of the commits that other connections make between them. */
export function inReadTransaction<T>(db: DatabaseSync, read: () => T): T {
  db.exec("BEGIN");
  try {
    return read();
  } finally {
    db.exec("ROLLBACK");
  }
}

/** The format number of a database; null for an empty one. Closes the database and throws OtherFormat if the format is not this version's. */
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

/** Throws OtherFormat as `openSqlite` does, and changes nothing. A file that does not exist has no other format. */
export function checkFormat(file: string): void {
  if (!existsSync(file)) return;
  const db = new DatabaseSync(file);
  formatOf(db, file);
  db.close();
}

/**
 * Takes a database file for this process alone, until it lets go or ends, however it ends; null when another process has it. Two hosts on
 * one file would each believe their own memory.
 */
export function takeFile(file: string): { release(): void } | null {
  mkdirSync(dirname(file), { recursive: true });
  const lock = new DatabaseSync(`${file}.lock`);
  try {
    lock.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE;");
  } catch {
    lock.close();
    return null;
  }
  return { release: () => lock.close() };
}

/**
 * The first table of a file, by name, whose columns are not those that a schema gives it; null for none, and for a file that is not there yet.
 * Throws OtherFormat as `openSqlite` does.
 */
export function foreignTable(file: string, schema: string): string | null {
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
  const kept = columns(file, "");
  for (const [table, wanted] of columns(":memory:", schema)) {
    if (kept.has(table) && kept.get(table) !== wanted) return table;
  }
  return null;
}

/**
 * Triggers that make a table append-only for every connection: no UPDATE, no DELETE, and no REPLACE by its key or by
 * its rowid (where it has one), also from a connection without recursive triggers.
 */
export function appendOnly(table: string, key: readonly string[]): string {
  const same = key.map((column) => `${column} = NEW.${column}`).join(" AND ");
  const refuse = `BEGIN SELECT RAISE(ABORT, '${table} is append-only'); END;`;
  return `
    CREATE TRIGGER IF NOT EXISTS ${table}_no_update BEFORE UPDATE ON ${table} ${refuse}
    CREATE TRIGGER IF NOT EXISTS ${table}_no_delete BEFORE DELETE ON ${table} ${refuse}
    CREATE TRIGGER IF NOT EXISTS ${table}_no_replace BEFORE INSERT ON ${table}
      WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${same}) OR EXISTS (SELECT 1 FROM ${table} WHERE rowid = NEW.rowid) ${refuse}
  `;
}

/**
 * Kysely over an open database: all queries that are not on the way of every match go through it, so that PostgreSQL can take them as
 * they are. It is loaded here and not with this file: that is a quarter of a second's work, and a referee that only plays matches needs none.
 * Parameters must be primitives: node:sqlite would take an object for named parameters and shift every column.
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
