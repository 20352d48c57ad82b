import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { execute, type PostgresServer } from "#shared/store/testing/postgres-server.ts";
import { root } from "../testing/processes.ts";

/** A temporary PostgreSQL server with the database of one run. */
export interface ClusterDatabase {
  /** The URL of the database for the managers, at another port for a manager behind a forwarder. */
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

interface DatabaseSizes {
  readonly sizeBytes: number;
  readonly walBytes: number;
}

const SIZES = `SELECT pg_database_size(current_database()) AS size, pg_current_wal_lsn() - '0/0' AS wal`;

/** The role of the managers, which has the rights that `league db migrate` grants. */
const ROLE = "league_manager";
const CREATE_ROLE = `
  DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${ROLE}') THEN
      CREATE ROLE ${ROLE} LOGIN PASSWORD '${ROLE}';
    END IF;
  END $$`;

/** Creates a database with the tables of a run in a server. */
export async function createDatabase(server: PostgresServer): Promise<ClusterDatabase> {
  const url = await server.createDatabase();
  await execute(url, CREATE_ROLE);
  await runLeague(["db", "migrate", "--database", url, "--role", ROLE]);
  const [settings] = await execute(url, "SHOW data_directory");
  const pidFile = join(String(settings?.data_directory), "postmaster.pid");
  const serverPid = (): number => Number(readFileSync(pidFile, "utf8").split("\n")[0]);
  let pid: number | null = serverPid();
  return {
    urlAt: (port) => Object.assign(new URL(url), { port: String(port), username: ROLE, password: ROLE }).href,
    port: server.port,
    pid: () => pid,
    async kill() {
      pid = null;
      await server.kill9();
    },
    async restart() {
      await server.restart();
      pid = serverPid();
    },
    async sizes() {
      const [row] = await execute(url, SIZES);
      return { sizeBytes: Number(row?.size), walBytes: Number(row?.wal) };
    },
  };
}

/** The output of `verify` names each match that was played again. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Runs `league ARGS`. Resolves with its output on stdout. Rejects with its output if it fails. */
export async function runLeague(args: readonly string[]): Promise<string> {
  const command = [join(root, "scripts/league.ts"), ...args];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root, maxBuffer: MAX_OUTPUT_BYTES });
  return stdout;
}

/** Runs `league ARGS --json`. Resolves with the document that it prints, also if it reports faults by exit code 1. */
export async function leagueDocument<T>(args: readonly string[]): Promise<T> {
  const text = await runLeague([...args, "--json"]).catch((thrown: { code?: unknown; stdout?: string }) => {
    if (thrown.code === EXIT.failed && thrown.stdout) return thrown.stdout;
    throw thrown;
  });
  return JSON.parse(text) as T;
}
