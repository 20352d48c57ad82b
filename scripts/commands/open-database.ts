import { inOneLine } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import type { Postgres } from "#shared/store/postgres/connection.ts";

/** The name of the connections of commands in `pg_stat_activity`. */
const APPLICATION_NAME = "league command";

/** Returns the URL of the option `--database` or of DATABASE_URL. Throws StartError if there is none. */
export function requireDatabase(url: string | undefined): string {
  if (url) return url;
  throw new StartError("no database is named: use --database URL, or set DATABASE_URL", EXIT.usage);
}

/** Rejects with StartError if a text is not the URL of a database, or names a file that cannot be read. Does not connect. */
export async function assertDatabaseUrl(url: string): Promise<void> {
  const { assertFiles, parseDatabaseUrl } = await import("#shared/store/postgres/url.ts");
  try {
    parseDatabaseUrl(url);
    assertFiles(url);
  } catch (thrown) {
    const { startError } = await import("../../league-manager/start/database-error.ts");
    throw startError(thrown, url);
  }
}

/**
 * Opens a database for one command. Rejects with StartError, without the password, if the URL is wrong, the database
 * does not answer, its tables have another version or a right is missing.
 */
export async function withDatabase<T>(url: string, body: (database: Postgres<unknown>) => Promise<T>): Promise<T> {
  const { openPostgres } = await import("#shared/store/postgres/connection.ts");
  try {
    // A command may read large tables, so a statement has no time limit.
    const database = openPostgres<unknown>(url, { applicationName: APPLICATION_NAME, statementTimeoutMs: 0 });
    try {
      return await body(database);
    } finally {
      await database.close();
    }
  } catch (thrown) {
    const { startError } = await import("../../league-manager/start/database-error.ts");
    throw startError(thrown, url);
  }
}

/** Names a database for a person, without its user and password. */
export async function databaseName(url: string): Promise<string> {
  const { parseDatabaseUrl } = await import("#shared/store/postgres/url.ts");
  const { server, database } = parseDatabaseUrl(url);
  return inOneLine(database === null ? `the database at ${server}` : `the database ${database} at ${server}`);
}
