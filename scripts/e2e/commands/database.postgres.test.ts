import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { inTransaction, openPostgres } from "#shared/store/postgres/connection.ts";
import { execute, type PostgresServer, sharedPostgres } from "#shared/store/testing/postgres-server.ts";
import type { MatchJob } from "../../../league-manager/match-queue.ts";
import { openJobQueue } from "../../../league-manager/postgres/job-queue.ts";
import { MIGRATIONS } from "../../../league-manager/postgres/run-migrations.ts";
import { transactionOn } from "../../../league-manager/postgres/run-transaction.ts";
import { cleanUp, eventually, newFolder } from "../../testing/processes.ts";
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

const VERSION = MIGRATIONS.length;

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

describe("league db migrate", () => {
  test("creates the tables once, and grants a role what managers need", async () => {
    expect(await linesOf(["migrate"], url)).toEqual([
      `the tables have version ${VERSION} now: ${VERSION} migrations applied (${MIGRATIONS.map(({ name }) => name).join(", ")})`,
    ]);
    const granted = `role ${MANAGER} can append to the logs and read them, but not change them`;
    const already = `the tables have version ${VERSION} already`;
    expect(await linesOf(["migrate", "--role", MANAGER], url)).toEqual([already, granted]);
    expect(await linesOf(["migrate"], url)).toEqual([already, granted]);
  });

  test("a role of managers can write a log and other tables, and cannot change the log or its protection", async () => {
    await linesOf(["migrate", "--role", MANAGER], url);
    await writeLog(as(url, MANAGER));
    const asManager = (sql: string) => execute(as(url, MANAGER), sql);
    await asManager("INSERT INTO meta VALUES ('k', '1'); UPDATE meta SET value = '2'; DELETE FROM meta");
    for (const table of ["log", "streams", "commits", "session_logs"]) {
      for (const change of [`DELETE FROM ${table}`, `TRUNCATE ${table} CASCADE`, `DROP TABLE ${table}`]) {
        await expect(asManager(change)).rejects.toMatchObject({ code: "42501" });
      }
      await expect(asManager(`DROP TRIGGER ${table}_append_only ON ${table}`)).rejects.toMatchObject({ code: "42501" });
    }
    for (const change of [
      "UPDATE log SET body = 'x'",
      "UPDATE streams SET name = 'x'",
      "SELECT setval('streams_number_seq', 1)",
      "CREATE OR REPLACE FUNCTION reject_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
      "SET session_replication_role = replica",
      "UPDATE schema_migrations SET number = 9",
    ]) {
      await expect(asManager(change)).rejects.toMatchObject({ code: "42501" });
    }
    expect((await linesOf(["check"], url)).slice(-3)).toEqual([
      `roles without the right to change them: ${MANAGER}`,
      "log: 6 events of 2 streams in 3 commits, without gaps; every hash is correct",
      "the database is sound",
    ]);
  });

  test("several calls at the same time create the tables and the queue once", async () => {
    const calls = await Promise.all(Array.from({ length: 3 }, () => linesOf(["migrate"], url)));
    expect(calls.flat().filter((line) => line.includes("already"))).toHaveLength(2);
    expect((await linesOf(["check"], url)).at(-1)).toBe("the database is sound");
  });

  test("a role of managers can add, take and end jobs", async () => {
    await linesOf(["migrate", "--role", MANAGER], url);
    const errors: unknown[] = [];
    const onError = (thrown: unknown): void => void errors.push(thrown);
    const queue = await openJobQueue({ url: as(url, MANAGER), clock: systemClock, onError });
    const { pool, close } = openPostgres<unknown>(as(url, MANAGER), { applicationName: "test" });
    const job = { leagueId: "rps", matchId: "R1M1", epoch: 1 };
    try {
      await inTransaction(pool, (client) => queue.enqueue(transactionOn(client), [job]));
      const taken = Promise.withResolvers<MatchJob>();
      const worker = queue.work(() => 1, taken.resolve);
      expect(await taken.promise).toEqual(job);
      await eventually("a held job is counted", async () => (await queue.stats()).held === 1);
      await inTransaction(pool, (client) => queue.complete(transactionOn(client), [job]));
      await eventually("no job is held", async () => (await queue.stats()).held === 0);
      await worker.stop();
    } finally {
      await close();
      await queue.close();
    }
    expect(errors).toEqual([]);
  });

  test("a database whose encoding does not have every character is rejected in one line", async () => {
    const latin = await newDatabase(server);
    const name = new URL(latin).pathname.slice(1);
    await execute(server.url, `DROP DATABASE ${name}`);
    await execute(
      server.url,
      `CREATE DATABASE ${name} OWNER ${OWNER} ENCODING LATIN1 LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    );
    const [code, line] = await faultOf(["migrate"], latin);
    expect([code, line]).toEqual([
      1,
      expect.stringMatching(/^PostgreSQL at .*: the database has the encoding LATIN1.*UTF8$/),
    ]);
  });

  test("a role that does not exist or owns the tables is rejected", async () => {
    expect(await faultOf(["migrate", "--role", "nobody"], url)).toEqual([
      1,
      'there is no role "nobody": create it, e.g. with createuser --pwprompt',
    ]);
    // The role is checked before the tables are created.
    expect(await faultOf(["check"], url)).toEqual([
      1,
      expect.stringMatching(/^the database has no tables of a league/),
    ]);
    const rejected = `role "${OWNER}" owns the tables or is a superuser, so its rights cannot be limited: name another role`;
    expect(await faultOf(["migrate", "--role", OWNER], url)).toEqual([1, rejected]);
  });

  test("a manager's role cannot migrate, and a newer database is left as it is", async () => {
    expect(await faultOf(["migrate"], as(url, MANAGER))).toEqual([
      1,
      expect.stringMatching(/^user "league_manager" lacks a right in the database at 127\.0\.0\.1:\d+: /),
    ]);
    await linesOf(["migrate"], url);
    await asSuperuser(
      server,
      url,
      `INSERT INTO schema_migrations (number, name) VALUES (${VERSION + 1}, 'of the future')`,
    );
    const newer = `the tables of the database have version ${VERSION + 1}; this program knows versions up to ${VERSION}: use a newer version of the program`;
    expect(await faultOf(["migrate"], url)).toEqual([1, newer]);
    expect(await faultOf(["check"], url)).toEqual([1, newer]);
    expect(await faultOf(["backup", join(newFolder(), "x")], url)).toEqual([1, newer]);
  });
});

describe("league db check", () => {
  test("a database that was not migrated is not checked", async () => {
    const rejected = `the database has no tables of a league; this program needs version ${VERSION}: run "league db migrate"`;
    expect(await faultOf(["check"], url)).toEqual([1, rejected]);
  });

  test("a database without a limited role is sound, and the command says how to limit one", async () => {
    await linesOf(["migrate"], url);
    expect(await linesOf(["check"], url)).toEqual([
      `version of the tables: ${VERSION}`,
      "append-only tables: streams, log, commits, session_logs; their triggers reject changes",
      "roles without the right to change them: none; create one with npm run league -- db migrate --role NAME",
      "log: 0 events of 0 streams in 0 commits, without gaps; every hash is correct",
      "the database is sound",
    ]);
  });

  const withoutTriggers = (sql: string): string =>
    `ALTER TABLE log DISABLE TRIGGER USER; ALTER TABLE commits DISABLE TRIGGER USER; ${sql};
     ALTER TABLE log ENABLE ALWAYS TRIGGER log_append_only; ALTER TABLE log ENABLE ALWAYS TRIGGER log_gapless;
     ALTER TABLE commits ENABLE ALWAYS TRIGGER commits_append_only`;
  const first = "stream = (SELECT number FROM streams WHERE name = 'league/a')";
  test.each([
    [
      "a changed event",
      withoutTriggers(`UPDATE log SET body = replace(body, 'text', 'forged') WHERE ${first} AND seq = 1`),
      ["event 2 of stream league/a has been changed: its hash is wrong"],
    ],
    [
      "a changed event with its hash",
      withoutTriggers(
        `UPDATE log SET body = 'x', hash = encode(sha256(convert_to(prev_hash || E'\\nx', 'UTF8')), 'hex') WHERE ${first} AND seq = 1`,
      ),
      ["event 3 of stream league/a does not follow the one before it"],
    ],
    [
      "a removed event",
      withoutTriggers(`DELETE FROM log WHERE ${first} AND seq = 1`),
      ["commit 2 does not have all its events", "event 2 of stream league/a is missing"],
    ],
    [
      "a removed commit",
      withoutTriggers("DELETE FROM log WHERE commit_number = 3; DELETE FROM commits WHERE number = 2"),
      ["1 commit is missing in the table commits"],
    ],
    [
      "a removed last commit",
      withoutTriggers("DELETE FROM commits WHERE number = 3"),
      ["the log has events of commit 3, but the last commit is 2"],
    ],
    [
      "a disabled trigger",
      "ALTER TABLE log DISABLE TRIGGER log_append_only; ALTER TABLE log ENABLE TRIGGER log_gapless",
      ["trigger log_append_only of table log is disabled", "trigger log_gapless of table log is disabled"],
    ],
    [
      "a removed trigger",
      "DROP TRIGGER session_logs_append_only ON session_logs",
      ["table session_logs does not have the trigger session_logs_append_only of this version"],
    ],
    [
      "an altered trigger",
      "CREATE OR REPLACE TRIGGER streams_append_only BEFORE TRUNCATE ON streams EXECUTE FUNCTION reject_change(); ALTER TABLE streams ENABLE ALWAYS TRIGGER streams_append_only",
      ["trigger streams_append_only of table streams has been altered"],
    ],
    [
      "an altered function of a trigger",
      "CREATE OR REPLACE FUNCTION check_log_gapless() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
      ["trigger log_gapless of table log has been altered"],
    ],
    [
      "a missing queue",
      "DROP SCHEMA pgboss CASCADE",
      ["matches", "lost_matches"]
        .map((queue) => `the queue ${queue} does not exist: run npm run league -- db migrate`)
        .sort(),
    ],
    [
      "a right to change the log",
      "GRANT INSERT, DELETE ON log TO other_role; GRANT UPDATE (body) ON log TO other_role",
      ["role other_role has the right DELETE, UPDATE on table log"],
    ],
  ])("finds %s", async (_, sql, faults) => {
    await linesOf(["migrate"], url);
    await writeLog(url);
    await asSuperuser(server, url, sql);
    const [code, title, ...found] = await faultOf(["check"], url);
    expect([code, title]).toEqual([1, "the database is not sound:"]);
    expect(found.map((line) => line.replace("UPDATE, DELETE", "DELETE, UPDATE")).sort()).toEqual(faults);
  });
});

test("a database that cannot be used is one line and an exit code", async () => {
  const changed = (part: "pathname" | "password" | "port", value: string): string => {
    const other = new URL(url);
    other[part] = value;
    return other.href;
  };
  const at = `PostgreSQL at 127.0.0.1:${server.port}`;
  for (const command of [["migrate"], ["check"], ["backup", join(newFolder(), "x")]]) {
    expect(await faultOf(command, "")).toEqual([2, "no database is named: use --database URL, or set DATABASE_URL"]);
    expect(await faultOf([...command, "--database", "top secret"], "")).toEqual([
      2,
      expect.stringMatching(/^not the URL of a PostgreSQL database: use postgres:/),
    ]);
    expect(await faultOf(command, changed("pathname", "/none"))).toEqual([
      1,
      `${at} has no database "none": create it, e.g. with createdb`,
    ]);
    expect(await faultOf(command, changed("password", "wrong"))).toEqual([
      1,
      `${at} rejects user "${OWNER}": the name or the password is wrong`,
    ]);
    expect(await faultOf(command, changed("port", "1"))).toEqual([
      1,
      "no PostgreSQL server listens at 127.0.0.1:1: start it, or correct the address",
    ]);
  }
});
