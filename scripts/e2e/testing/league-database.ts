import { expect } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { execute, type PostgresServer } from "#shared/store/testing/postgres-server.ts";
import { openPostgresRun } from "../../../league-manager/postgres/postgres-run.ts";
import { appendTo, commitTo } from "../../../league-manager/shared-run/testing/commits.ts";
import { league, STACK_LINE } from "../../testing/processes.ts";

/** The roles of the tests. */
export const OWNER = "league_owner";
export const MANAGER = "league_manager";
const PASSWORD = "top: secret/?";

/** Creates the roles on a server that test files share. */
export async function createRoles(server: PostgresServer): Promise<void> {
  for (const role of [OWNER, MANAGER, "other_role"]) {
    await execute(
      server.url,
      `DO $$ BEGIN CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
    );
  }
}

/** Creates an empty database of `OWNER`. */
export async function newDatabase(server: PostgresServer): Promise<string> {
  const created = await server.createDatabase();
  await execute(server.url, `ALTER DATABASE ${new URL(created).pathname.slice(1)} OWNER TO ${OWNER}`);
  return as(created, OWNER);
}

/** Returns the URL of a database for another user. */
export function as(database: string, user: string): string {
  const changed = new URL(database);
  changed.username = user;
  changed.password = encodeURIComponent(PASSWORD);
  return changed.href;
}

/** Executes SQL in a database as the superuser of the server. */
export const asSuperuser = (server: PostgresServer, database: string, sql: string) =>
  execute(server.url.replace(/[^/]*$/, new URL(database).pathname.slice(1)), sql);

const db = (args: readonly string[], database: string) => league(["db", ...args], { DATABASE_URL: database });

/** Resolves with the lines on stdout of a command that succeeds. */
export async function linesOf(args: readonly string[], database: string): Promise<readonly string[]> {
  const { code, stdout, stderr } = await db(args, database);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.trimEnd().split("\n");
}

/** Resolves with the exit code and the lines on stderr of a command that fails. */
export async function faultOf(
  args: readonly string[],
  database: string,
): Promise<readonly [number | null, ...string[]]> {
  const { code, stdout, stderr } = await db(args, database);
  expect(stdout).toBe("");
  expect(stderr).not.toMatch(STACK_LINE);
  for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)]) expect(stderr).not.toContain(secret);
  return [code, ...stderr.trimEnd().split("\n")];
}

/** Appends 6 events of two streams in three commits, as a manager does. */
export async function writeLog(url: string): Promise<void> {
  const queue = { enqueue: async () => {}, complete: async () => {} };
  const run = await openPostgresRun({ url, queue, clock: systemClock, ids: systemIds });
  try {
    for (const version of [0, 1, 2]) {
      await commitTo(run, { appends: ["league/a", "agent/P01"].map((stream) => appendTo(stream, version, "text")) });
    }
  } finally {
    await run.close();
  }
}
