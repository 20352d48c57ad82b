import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  execute,
  type PostgresServer,
  postgresProgram,
  sharedPostgres,
} from "#shared/store/testing/postgres-server.ts";
import { cleanUp, league, newFolder } from "../../testing/processes.ts";
import {
  as,
  asSuperuser,
  createRoles,
  faultOf,
  linesOf,
  MANAGER,
  newDatabase,
  OWNER,
  writeLog,
} from "../testing/league-database.ts";

let server: PostgresServer;
/** An empty database. */
let url: string;
beforeAll(async () => {
  server = await sharedPostgres();
  await createRoles(server);
});
beforeEach(async () => {
  url = await newDatabase(server);
});
afterEach(cleanUp);

test("a backup that is restored into another database has the same content and is sound", async () => {
  await linesOf(["migrate", "--role", MANAGER], url);
  await writeLog(as(url, MANAGER));
  const file = join(newFolder(), "league.dump");
  const [written, create, , restore = "", migrate] = await linesOf(["backup", file], url);
  expect(written).toMatch(/league\.dump written, 0\.\d MB\. To restore it into a new database:$/);
  expect(create).toContain(`createdb --owner ${OWNER} --encoding UTF8 `);
  expect(migrate).toContain(` db migrate --role ${MANAGER} `);
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const restored = await newDatabase(server);
  const [program = "", ...args] = restore.trim().replace('"$DATABASE_URL"', restored).split(" ");
  await promisify(execFile)(postgresProgram(program), args);
  expect(await linesOf(["migrate", "--role", MANAGER], restored)).toHaveLength(2);
  expect(await linesOf(["check"], restored)).toEqual(await linesOf(["check"], url));
  for (const table of ["streams", "log", "commits", "schema_migrations"]) {
    const rows = `SELECT * FROM ${table} ORDER BY 1, 2`;
    const expected = await execute(url, rows);
    expect(expected.length).toBeGreaterThan(0);
    expect(await execute(restored, rows)).toEqual(expected);
  }
  await expect(execute(restored, "DELETE FROM log")).rejects.toThrow("log is append-only");
});

test("a file that exists is not replaced, and a backup that fails leaves no file", async () => {
  await linesOf(["migrate"], url);
  const folder = newFolder();
  const file = join(folder, "league.dump");
  writeFileSync(file, "mine");
  expect(await faultOf(["backup", file], url)).toEqual([2, `${file} exists: name another file`]);
  expect(readFileSync(file, "utf8")).toBe("mine");

  const other = join(folder, "other.dump");
  writeFileSync(`${other}.partial`, "");
  expect(await faultOf(["backup", other], url)).toEqual([
    1,
    `${other}.partial exists: a backup is running, or has been interrupted; then remove the file`,
  ]);

  await asSuperuser(server, url, `CREATE TABLE private (n int); GRANT SELECT ON schema_migrations TO ${MANAGER}`);
  const denied = await faultOf(["backup", join(folder, "denied")], as(url, MANAGER));
  expect(denied).toEqual([
    1,
    expect.stringMatching(
      /^no backup was written: pg_dump: error: .*permission denied.*; use the URL of the owner of the tables/,
    ),
  ]);
  const nowhere = join(folder, "no", "x");
  expect(await faultOf(["backup", nowhere], url)).toEqual([1, expect.stringContaining(`${nowhere}.partial`)]);
  expect(readdirSync(folder).sort()).toEqual(["league.dump", "other.dump.partial"]);
});

test("the message names the package if pg_dump is missing", async () => {
  await linesOf(["migrate"], url);
  const file = join(newFolder(), "x");
  const { code, stderr } = await league(["db", "backup", file], { DATABASE_URL: url, PATH: newFolder() });
  expect([code, stderr]).toEqual([1, "pg_dump is not installed: sudo apt-get install postgresql-client\n"]);
});
