import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { counted, inOneLine } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import { type Connection, inTransaction } from "#shared/store/postgres/connection.ts";
import { appendOnlyTables, type CheckedLog, checkLog, triggerFaults } from "#shared/store/postgres/log-statements.ts";
import { assertSchema, inMigration, migrate } from "#shared/store/postgres/migrations.ts";
import {
  assertRole,
  grantedRoles,
  grantRights,
  rightFaults,
  UnusableRole,
  writers,
} from "#shared/store/postgres/rights.ts";
import { splitPassword } from "#shared/store/postgres/url.ts";
import { createJobQueue, LOST_MATCHES, MATCHES } from "../../league-manager/postgres/job-queue.ts";
import { MIGRATIONS } from "../../league-manager/postgres/run-migrations.ts";
import { requireDatabase, withDatabase } from "./open-database.ts";
import { inShell } from "./shell-word.ts";

interface MigrateFlags {
  readonly database?: string;
  /** The role of the managers. Absent for the roles that have its rights already. */
  readonly role?: string;
}

/** `league db migrate`: creates or updates the tables, and grants rights on them. Resolves with the exit code. */
export async function migrateDatabase(flags: MigrateFlags): Promise<number> {
  const url = requireDatabase(flags.database);
  return withDatabase(url, async ({ pool }) => {
    const { role: newRole } = flags;
    if (newRole !== undefined) await usable(assertRole(pool, newRole));
    const applied = await migrate(pool, MIGRATIONS);
    const roles = await inMigration(pool, async (client) => {
      await createJobQueue(url);
      // New tables need rights too, so the roles of earlier calls are granted theirs again.
      const named = newRole === undefined ? await grantedRoles(client) : [newRole];
      for (const role of named) await usable(grantRights(client, role, appendOnlyTables(MIGRATIONS)));
      return named;
    });
    const lines = [
      applied.length === 0
        ? `the tables have version ${MIGRATIONS.length} already`
        : `the tables have version ${MIGRATIONS.length} now: ${counted(applied.length, "migration")} applied (${applied.map(({ name }) => name).join(", ")})`,
      ...roles.map((role) => `role ${role} can append to the logs and read them, but not change them`),
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
    return EXIT.ok;
  });
}

/** Rejects with StartError if a role cannot be the one of the managers. */
async function usable(step: Promise<void>): Promise<void> {
  try {
    await step;
  } catch (thrown) {
    throw thrown instanceof UnusableRole ? new StartError(thrown.message) : thrown;
  }
}

const MAX_SHOWN = 20;

/** One snapshot for all queries, so that a running league can be checked. */
const BEGIN = `
  SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL idle_in_transaction_session_timeout = 0`;

const SELECT_COMMITS = `
  SELECT count(*) AS count, coalesce(max(number), 0) AS last,
    coalesce((SELECT max(commit_number) FROM log), 0) AS "lastOfLog" FROM commits`;

/**
 * `league db check`: prints what it has checked. Resolves with 0 for a sound database. Rejects with StartError, with a
 * line for each of the first faults.
 */
export async function checkDatabase(flags: { readonly database?: string }): Promise<number> {
  return withDatabase(requireDatabase(flags.database), ({ pool }) =>
    inTransaction(pool, async (client) => {
      await client.query(BEGIN);
      await assertSchema(client, MIGRATIONS);
      const appendOnly = appendOnlyTables(MIGRATIONS);
      const roles = await writers(client);
      const log = await checkLog(client);
      const commits = await checkCommits(client);
      const faults = [
        ...(await triggerFaults(client, appendOnly)),
        ...(await rightFaults(client, roles, appendOnly)),
        ...commits.faults,
        ...(await queueFaults(client)),
        ...log.faults,
      ];
      if (faults.length > 0) throw unsound(faults);
      process.stdout.write(`${summary(appendOnly, roles, log, commits.count).join("\n")}\n`);
      return EXIT.ok;
    }),
  );
}

/** Checks that the numbers of commits have no gaps, and that each event belongs to a commit. */
async function checkCommits(
  client: Connection,
): Promise<{ readonly count: number; readonly faults: readonly string[] }> {
  const { rows } = await client.query<{ count: number; last: number; lastOfLog: number }>(SELECT_COMMITS);
  const [{ count, last, lastOfLog } = { count: 0, last: 0, lastOfLog: 0 }] = rows;
  const faults = [
    ...(count === last ? [] : [`${counted(last - count, "commit is", "commits are")} missing in the table commits`]),
    ...(lastOfLog <= last ? [] : [`the log has events of commit ${lastOfLog}, but the last commit is ${last}`]),
  ];
  return { count, faults };
}

/** Returns one sentence for each queue of pg-boss that does not exist. */
async function queueFaults(client: Connection): Promise<readonly string[]> {
  const { rows } = await client.query("SELECT to_regclass('pgboss.queue') IS NOT NULL AS found");
  const queues = rows[0].found ? await client.query("SELECT name FROM pgboss.queue") : { rows: [] };
  const missing = [MATCHES, LOST_MATCHES].filter((queue) => !queues.rows.some(({ name }) => name === queue));
  return missing.map((queue) => `the queue ${queue} does not exist: run ${LEAGUE_COMMAND} db migrate`);
}

function unsound(faults: readonly string[]): StartError {
  const more = faults.length > MAX_SHOWN ? [`and ${counted(faults.length - MAX_SHOWN, "further fault")}`] : [];
  return new StartError(["the database is not sound:", ...faults.slice(0, MAX_SHOWN), ...more].join("\n"));
}

const summary = (
  appendOnly: readonly string[],
  roles: readonly string[],
  { streams, events }: CheckedLog,
  commits: number,
): readonly string[] => [
  `version of the tables: ${MIGRATIONS.length}`,
  `append-only tables: ${appendOnly.join(", ")}; their triggers reject changes`,
  roles.length === 0
    ? `roles without the right to change them: none; create one with ${LEAGUE_COMMAND} db migrate --role NAME`
    : `roles without the right to change them: ${roles.join(", ")}`,
  `log: ${counted(events, "event")} of ${counted(streams, "stream")} in ${counted(commits, "commit")}, without gaps; every hash is correct`,
  "the database is sound",
];

/** `league db backup`: writes all tables into a file that only its owner may read. Resolves with the exit code. */
export async function backUpDatabase(path: string, flags: { readonly database?: string }): Promise<number> {
  const url = requireDatabase(flags.database);
  const file = resolve(path);
  if (existsSync(file)) throw new StartError(`${file} exists: name another file`, EXIT.usage);
  const restored = await withDatabase(url, async ({ pool }) => {
    await assertSchema(pool, MIGRATIONS);
    return inTransaction(pool, readRestored);
  });
  const partial = `${file}.partial`;
  if (existsSync(partial)) {
    throw new StartError(`${partial} exists: a backup is running, or has been interrupted; then remove the file`);
  }
  const output = openSync(partial, "wx", 0o600);
  try {
    await dump(url, output);
    fsyncSync(output);
    // Unlike a rename, a link does not replace a file that has been written in the meantime.
    linkSync(partial, file);
  } finally {
    closeSync(output);
    rmSync(partial);
  }
  const megabytes = (statSync(file).size / 1e6).toFixed(1);
  const commands = restoreCommands(restored, url, file).map((command) => `  ${command}\n`);
  process.stdout.write(`${file} written, ${megabytes} MB. To restore it into a new database:\n${commands.join("")}`);
  return EXIT.ok;
}

/** Writes a dump of a database to a file. Rejects with StartError if pg_dump is missing or fails. */
async function dump(url: string, output: number): Promise<void> {
  const { withoutPassword, password } = splitPassword(url);
  const args = ["--format=custom", "--no-password", "--dbname", withoutPassword];
  // The environment of a process is not shown to other users.
  const env = { ...process.env, PGCONNECT_TIMEOUT: "10", ...(password === null ? {} : { PGPASSWORD: password }) };
  const child = spawn("pg_dump", args, { env, stdio: ["ignore", output, "pipe"] });
  const messages = text(child.stderr as Readable);
  const [code] = await once(child, "close").catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== "ENOENT") throw thrown;
    throw new StartError("pg_dump is not installed: sudo apt-get install postgresql-client");
  });
  if (code === 0) return;
  const lines = (await messages).trim().split("\n").map(inOneLine);
  const reason = lines.join("; ") || `pg_dump has ended with ${code}`;
  throw new StartError(`no backup was written: ${reason}${hintFor(reason)}`);
}

/** Returns what the operator can do about a message of pg_dump; empty if that is not known. */
function hintFor(reason: string): string {
  if (reason.includes("version mismatch")) return "; install the package postgresql-client of the server's version";
  if (reason.includes("permission denied")) return "; use the URL of the owner of the tables, who may read all of them";
  return "";
}

/** What the commands that restore a backup depend on. */
interface Restored {
  readonly database: string;
  readonly owner: string;
  /** The roles of the managers. Empty if they connect as the owner. */
  readonly roles: readonly string[];
}

const SELECT_NAMES = "SELECT current_database() AS database, current_user AS owner";

/** Reads the names that the commands that restore a backup need, as the owner of the tables. */
async function readRestored(client: Connection): Promise<Restored> {
  const { rows } = await client.query<{ database: string; owner: string }>(SELECT_NAMES);
  const [{ database, owner } = { database: "", owner: "" }] = rows;
  return { database, owner, roles: await grantedRoles(client) };
}

/** Returns the commands that restore a backup into a new database beside the former one. The password in its URL is replaced by the word PASSWORD. */
export function restoreCommands({ database, owner, roles }: Restored, url: string, file: string): readonly string[] {
  const name = `${database}_restored`;
  const create = ["createdb --owner", inShell(owner), "--encoding UTF8 --template template0", inShell(name)].join(" ");
  return [
    `runuser -u postgres -- ${create}    # as root on the machine of the database`,
    `export DATABASE_URL=${inShell(urlOf(name, url))}`,
    `pg_restore --exit-on-error --single-transaction --no-owner --no-privileges --dbname "$DATABASE_URL" ${inShell(file)}`,
    ...(roles.length === 0
      ? [`${LEAGUE_COMMAND} db migrate`]
      : roles.map(
          (role) => `${LEAGUE_COMMAND} db migrate --role ${inShell(role)}    # grants the rights of the managers`,
        )),
    `${LEAGUE_COMMAND} db check`,
  ];
}

/** Returns the URL of another database of the same server and user. */
function urlOf(database: string, url: string): string {
  const { withoutPassword, password } = splitPassword(url);
  const other = withoutPassword.replace(/^(\w+:\/\/[^/?]*)(?:\/[^?]*)?/, `$1/${encodeURIComponent(database)}`);
  return password === null ? other : other.replace("@", ":PASSWORD@");
}
