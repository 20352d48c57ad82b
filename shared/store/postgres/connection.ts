import { Kysely, PostgresDialect } from "kysely";
import { Client, Pool, type PoolClient, types } from "pg";
import { assertFiles, parseDatabaseUrl } from "./url.ts";

/** A database, as a pool of connections and as Kysely over the same pool. */
export interface Postgres<Tables> {
  readonly pool: Pool;
  readonly kysely: Kysely<Tables>;
  /** Closes the connections when their queries have ended. */
  close(): Promise<void>;
}

/** One connection of the pool. */
export type Connection = PoolClient;

export interface PostgresOptions {
  /** Identifies the connections in `pg_stat_activity`. */
  readonly applicationName: string;
  /** At most this number of connections is open. */
  readonly maxConnections?: number;
  /** The time limit of a statement; 0 for none. */
  readonly statementTimeoutMs?: number;
  /** Whether a standby server is refused, like a server that does not answer. A standby may lack the latest commits. */
  readonly isPrimary?: boolean;
}

/** The time limit of a new connection, and of the wait for a connection of the pool. */
const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 10_000;
/** A statement waits at most this long for a lock, including advisory locks. */
const LOCK_TIMEOUT_MS = 5_000;
/**
 * The server ends a transaction that waits this long for its client. A manager that is stopped in the middle of a
 * transaction must not keep the lock of the run.
 */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 2_000;
/** The client waits this much longer than the server for the end of a statement. After that, the network has failed. */
const NETWORK_DELAY_MS = 2_000;

/**
 * Settings of each session. `jit` is off, because the compilation of a statement takes longer than most statements. With
 * the last settings the server notices within seconds that a client is gone.
 */
const settings = (statementTimeoutMs: number): Readonly<Record<string, number | string>> => ({
  jit: "off",
  statement_timeout: statementTimeoutMs,
  lock_timeout: LOCK_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 1,
  tcp_keepalives_count: 5,
  tcp_user_timeout: 10_000,
});

const INT8 = 20;

/** Parses int8, the type of counts and sequence numbers, as a number. All other types are parsed by pg. */
const parsers = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    return oid === INT8 ? safeNumber : types.getTypeParser(oid, format);
  },
};

function safeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is not a safe integer`);
  return value;
}

/** A connection that is closed if a statement receives no answer. pg alone would keep the connection open with the statement pending. */
class PromptClient extends Client {
  // biome-ignore lint/suspicious/noExplicitAny: the overloads of pg
  override query(...args: any[]): any {
    // biome-ignore lint/suspicious/noExplicitAny: the overloads of pg
    const result = (super.query as any)(...args);
    if (result instanceof Promise) {
      result.catch((thrown) => {
        if (isReadTimeout(thrown)) this.end().catch(() => {});
      });
    }
    return result;
  }
}

const isReadTimeout = (thrown: unknown): boolean => thrown instanceof Error && thrown.message === "Query read timeout";

/**
 * Opens a database. Connects when the first query is executed. Throws BadDatabaseUrl if the URL is not one of
 * PostgreSQL, or names a file that cannot be read.
 */
export function openPostgres<Tables>(
  url: string,
  {
    applicationName,
    maxConnections = 10,
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
    isPrimary = false,
  }: PostgresOptions,
): Postgres<Tables> {
  parseDatabaseUrl(url);
  assertFiles(url);
  const pool = new Pool({
    connectionString: withLibpqModes(url),
    application_name: applicationName,
    max: maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 1_000,
    ...(statementTimeoutMs > 0 ? { query_timeout: statementTimeoutMs + NETWORK_DELAY_MS } : {}),
    options: Object.entries(settings(statementTimeoutMs))
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" "),
    types: parsers,
    ...(isPrimary ? { verify: refuseStandby } : {}),
    // Statements are sent without waiting for the answers to earlier ones of the same connection.
    pipeline: true,
    Client: PromptClient,
  });
  // The pool replaces a connection that fails while it is idle. A query reports the failure of a connection in use.
  pool.on("error", () => {});
  pool.on("connect", (client) => void client.on("error", () => {}));
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return { pool, kysely, close: () => pool.end() };
}

/** Passes an error to `done` if a new connection leads to a standby server. The error has the code of a read-only transaction. */
function refuseStandby(client: Connection, done: (error?: Error) => void): void {
  client
    .query("SELECT pg_is_in_recovery() AS standby")
    .then(
      ({ rows: [row] }) => done(row?.standby ? Object.assign(new Error(STANDBY), { code: "25006" }) : undefined),
      done,
    );
}

const STANDBY =
  "the server is a standby, which takes no changes: name the primary server, or wait until this one is promoted";

/** Returns a URL whose `sslmode` has the same meaning for pg as for the programs of PostgreSQL, e.g. pg_dump. */
const withLibpqModes = (url: string): string => `${url}${url.includes("?") ? "&" : "?"}uselibpqcompat=true`;

/** Thrown if the connection was lost during COMMIT. The transaction was committed or not. */
export class LostCommit extends Error {
  override readonly name = "LostCommit";
}

/** Errors after which the server may have committed, although it reports an error: its shutdown, and lost connections. */
const MAY_HAVE_COMMITTED = /^(57P0|08)/;

/** The kinds of transactions. The default is that of the database, which can be any of them. */
type Begin = "BEGIN" | "BEGIN ISOLATION LEVEL READ COMMITTED" | "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";

/**
 * Runs statements in a transaction of one connection. Rolls back if `body` throws. Rejects with LostCommit if the
 * connection was lost during COMMIT; after any other rejection nothing is committed.
 */
export async function inTransaction<T>(
  pool: Pool,
  body: (client: PoolClient) => Promise<T>,
  begin: Begin = "BEGIN",
): Promise<T> {
  const client = await pool.connect();
  let isCommitting = false;
  try {
    // The first statements of `body` are sent together with BEGIN.
    const [, result] = await Promise.all([client.query(begin), body(client)]);
    isCommitting = true;
    const { command } = await client.query("COMMIT");
    // The server answers COMMIT with ROLLBACK if a statement has failed, even if `body` has ignored its error.
    if (command !== "COMMIT") throw new TypeError("a statement of the transaction has failed");
    client.release();
    return result;
  } catch (thrown) {
    const rolledBack = await client.query("ROLLBACK").then(
      () => true,
      () => false,
    );
    client.release(!rolledBack);
    if (!isCommitting || thrown instanceof TypeError) throw thrown;
    const code = sqlState(thrown);
    if (code !== null && !MAY_HAVE_COMMITTED.test(code)) throw thrown;
    throw new LostCommit("the connection was lost during COMMIT", { cause: thrown });
  }
}

/** Returns the code of an error that the server has reported, such as 40001; null for another error. */
function sqlState(thrown: unknown): string | null {
  const { code, severity } = (thrown ?? {}) as { code?: unknown; severity?: unknown };
  return typeof code === "string" && severity !== undefined ? code : null;
}
