import { execute, type PostgresServer } from "#shared/store/testing/postgres-server.ts";
import { entryOf } from "../bench/process-table.ts";

/** A temporary PostgreSQL server with the database of one run. */
export interface ClusterDatabase {
  /** The URL of the database, at another port for a manager behind a forwarder. */
  urlAt(port: number): string;
  readonly port: number;
  /** The process id of the server; null while it is not running. */
  pid(): number | null;
  /** Kills all processes of the server with SIGKILL. */
  kill(): Promise<void>;
  /** Starts the server after a kill. */
  restart(): Promise<void>;
  /** Returns the size of the database in bytes, and the position in the write-ahead log. */
  sizes(): Promise<DatabaseSizes>;
}

export interface DatabaseSizes {
  readonly sizeBytes: number;
  readonly walBytes: number;
}

const SIZES = `SELECT pg_database_size(current_database()) AS size, pg_current_wal_lsn() - '0/0' AS wal`;
const BACKEND = "SELECT pg_backend_pid() AS pid";

/** Creates an empty database in a server. */
export async function openDatabase(server: PostgresServer): Promise<ClusterDatabase> {
  const url = await server.createDatabase();
  /** The server is the parent of the process of each connection. */
  const serverPid = async (): Promise<number | null> => {
    const [row] = await execute(url, BACKEND);
    return entryOf(Number(row?.pid))?.parent ?? null;
  };
  let pid = await serverPid();
  return {
    urlAt: (port) => Object.assign(new URL(url), { port: String(port) }).href,
    port: server.port,
    pid: () => pid,
    async kill() {
      pid = null;
      await server.kill9();
    },
    async restart() {
      await server.restart();
      pid = await serverPid();
    },
    async sizes() {
      const [row] = await execute(url, SIZES);
      return { sizeBytes: Number(row?.size), walBytes: Number(row?.wal) };
    },
  };
}
