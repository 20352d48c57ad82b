import {
  type ChildProcess,
  execFile,
  execFileSync,
  type SpawnOptions,
  type StdioOptions,
  spawn,
} from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chownSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";
import { Client } from "pg";
import { systemIds } from "#shared/lib/ids.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { findProgram, requireProgram } from "#shared/runtime/testing/packages.ts";

const VERSIONS = [18, 17, 16, 15, 14];
const PATHS = VERSIONS.map((version) => `/usr/lib/postgresql/${version}/bin/postgres`);

/** Runs before all slow tests: installs Debian's PostgreSQL if it is missing. */
export function setup(): void {
  requireProgram(PATHS, "postgresql");
}

/** A temporary PostgreSQL server on loopback, with the superuser `postgres`. */
export interface PostgresServer {
  /** The URL of the database `postgres`, as the superuser, with the password. */
  readonly url: string;
  readonly port: number;
  /** Creates an empty database, or a copy of another database of this server that has no connections. Returns its URL. */
  createDatabase(template?: string): Promise<string>;
  /** Kills every process of the server with SIGKILL, as a power failure would. Resolves when they have ended. */
  kill9(): Promise<void>;
  /** Starts the server again after `kill9` or `halt`, or restarts it. Resolves when it accepts connections. */
  restart(): Promise<void>;
  /** Stops the server, without removing its data. Connections are terminated by error 57P01. */
  halt(): Promise<void>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

/** Returns the path of a program of PostgreSQL, e.g. `pg_dump`. */
export const postgresProgram = (name: string): string => join(dirname(findProgram(PATHS) ?? ""), name);

/**
 * Databases sort texts by language, as they do on most machines, so that tests find queries that rely on the order of
 * bytes. Commits wait for the disk. A test may raise the limits of a session, but the defaults are those of PostgreSQL.
 */
const INIT = ["--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US", "--no-sync"];
const AUTHENTICATION = ["--username=postgres", "--auth-host=scram-sha-256", "--auth-local=scram-sha-256"];
const SETTINGS = `
listen_addresses = '127.0.0.1'
shared_buffers = 32MB
max_connections = 100
fsync = on
`;

/**
 * Stops the server and removes its folder when its standard input ends. The system closes that pipe when the process of
 * the tests ends in any way, so that no server remains.
 */
const WATCHDOG = `cat >/dev/null; "$1/pg_ctl" -D "$2/data" -m immediate -w stop; rm -rf "$2"`;

let shared: Promise<PostgresServer> | null = null;

/** Returns the server that all test files of this process share. It ends with the process. */
export function sharedPostgres(): Promise<PostgresServer> {
  shared ??= startPostgres();
  return shared;
}

/** Starts a server of its own, for tests that stop or kill it. It ends with this process, or by `stop`. */
export async function startPostgres(): Promise<PostgresServer> {
  setup();
  const folder = mkdtempSync(join(tmpdir(), "postgres-"));
  const user = serverUser();
  const options = { ...user, cwd: folder, env: { ...process.env, LC_ALL: "C.UTF-8" } };
  const data = join(folder, "data");
  const password = systemIds.token();
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, password);
  for (const path of [folder, passwordFile]) chownSync(path, user.uid ?? -1, user.gid ?? -1);
  const watchdogArgs = ["-c", WATCHDOG, "sh", dirname(postgresProgram("pg_ctl")), folder];
  const watchdog = spawn("/bin/sh", watchdogArgs, { ...options, detached: true, stdio: ["pipe", "ignore", "ignore"] });
  unref(watchdog, watchdog.stdin);

  const port = await freePort();
  const init = ["-D", data, `--pwfile=${passwordFile}`, ...INIT, ...AUTHENTICATION];
  await promisify(execFile)(postgresProgram("initdb"), init, options);
  appendFileSync(join(data, "postgresql.conf"), `${SETTINGS}port = ${port}\nunix_socket_directories = '${folder}'\n`);
  let server = await startServer(data, options);
  let created = 0;
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  const halt = () => end(server, "SIGINT");
  return {
    url,
    port,
    async createDatabase(template = url.replace(/[^/]*$/, "template1")) {
      const name = `test_${++created}`;
      await execute(url, `CREATE DATABASE ${name} TEMPLATE ${new URL(template).pathname.slice(1)}`);
      return url.replace(/[^/]*$/, name);
    },
    kill9: () => killAll(server),
    async restart() {
      await halt();
      server = await startServer(data, options);
    },
    halt,
    async stop() {
      const ended = once(watchdog, "exit");
      watchdog.ref();
      watchdog.stdin.end();
      await ended;
    },
  };
}

/** Starts PostgreSQL as a child of this process, and resolves when it accepts connections. */
async function startServer(data: string, options: SpawnOptions): Promise<ChildProcess> {
  const stdio: StdioOptions = ["ignore", "ignore", "pipe"];
  // A separate process group, because a signal of the terminal is for the tests.
  const server = spawn(postgresProgram("postgres"), ["-D", data], { ...options, detached: true, stdio });
  const output = server.stderr as Readable;
  const lines: string[] = [];
  const ready = Promise.withResolvers<void>();
  // The output is read to its end: the server would wait when the pipe is full.
  createInterface({ input: output })
    .on("line", (line) => {
      if (/ready to accept (read-only )?connections/.test(line)) ready.resolve();
      lines.push(line);
      if (lines.length > 20) lines.shift();
    })
    .on("close", () => ready.reject(new Error(`PostgreSQL has ended:\n${lines.join("\n")}`)));
  await ready.promise;
  unref(server, output);
  return server;
}

/** Lets this process end although a child process is running. */
function unref(child: ChildProcess, pipe: Readable | Writable): void {
  child.unref();
  (pipe as unknown as { unref(): void }).unref();
}

/** Sends a signal to a server, and resolves when it has ended. */
async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.ref();
  server.kill(signal);
  await ended;
}

/** Executes SQL, which may consist of several statements, in a new connection. Returns the rows of a single statement. */
export async function execute(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The user that runs the server: PostgreSQL refuses to run as root. */
function serverUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

async function killAll(server: ChildProcess): Promise<void> {
  const { pid } = server;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(/\s+/).map(Number);
  // The server is killed first, because it would otherwise start its processes again.
  const ended = end(server, "SIGKILL");
  for (const child of children) {
    try {
      process.kill(child, "SIGKILL");
    } catch {} // it has ended
  }
  await ended;
  while (children.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Returns whether a process runs. A process that has ended remains in the list until its parent has read its exit code. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
