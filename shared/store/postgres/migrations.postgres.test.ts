import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { execute, type PostgresServer, sharedPostgres } from "../testing/postgres-server.ts";
import { openPostgres, type Postgres } from "./connection.ts";
import { assertSchema, type Migration, migrate, OtherSchema, schemaVersion } from "./migrations.ts";

const migrations: readonly Migration[] = [
  { number: 1, name: "tables", sql: "CREATE TABLE a (n int); CREATE TABLE b (n int)" },
  { number: 2, name: "a column", sql: "ALTER TABLE a ADD COLUMN m int" },
  { number: 3, name: "rows", sql: "INSERT INTO a VALUES (1, 2)" },
];

let server: PostgresServer;
let url: string;
let databases: Postgres<unknown>[];
const open = (): Postgres<unknown>["pool"] => {
  const opened = openPostgres<unknown>(url, { applicationName: "test" });
  databases.push(opened);
  return opened.pool;
};
const numbers = (applied: readonly Migration[]): readonly number[] => applied.map(({ number }) => number);

beforeAll(async () => {
  server = await sharedPostgres();
});
beforeEach(async () => {
  url = await server.createDatabase();
  databases = [];
});
afterEach(async () => {
  await Promise.all(databases.map(({ close }) => close()));
});

test("each migration is applied once, in its order, and recorded", async () => {
  const pool = open();
  expect(await schemaVersion(pool)).toBe(0);
  expect(numbers(await migrate(pool, migrations.slice(0, 1)))).toEqual([1]);
  expect(numbers(await migrate(pool, migrations))).toEqual([2, 3]);
  expect(numbers(await migrate(pool, migrations))).toEqual([]);
  const { rows } = await pool.query("SELECT number, name, applied_at FROM schema_migrations ORDER BY number");
  expect(rows).toEqual(migrations.map(({ number, name }) => ({ number, name, applied_at: expect.any(Date) })));
  expect((await pool.query("SELECT n, m FROM a")).rows).toEqual([{ n: 1, m: 2 }]);
});

test("several processes can migrate at once", async () => {
  const applied = await Promise.all(Array.from({ length: 6 }, () => migrate(open(), migrations)));
  expect(applied.map(({ length }) => length).sort()).toEqual([0, 0, 0, 0, 0, 3]);
});

test("a migration that fails leaves the database as it was", async () => {
  const failing = [...migrations, { number: 4, name: "wrong", sql: "CREATE TABLE c (n int); SELECT 1/0" }];
  await expect(migrate(open(), failing)).rejects.toThrow("division by zero");
  expect(await execute(url, "SELECT to_regclass('a') AS a, to_regclass('schema_migrations') AS b")).toEqual([
    { a: null, b: null },
  ]);
});

test("a newer or older database is rejected, with both versions", async () => {
  const pool = open();
  const rejected = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => "accepted",
      (thrown) => {
        expect(thrown).toBeInstanceOf(OtherSchema);
        return String((thrown as Error).message);
      },
    );
  expect(await rejected(assertSchema(pool, migrations))).toBe(
    'the database has no tables of a league; this program needs version 3: run "league db migrate"',
  );
  await migrate(pool, migrations.slice(0, 2));
  expect(await rejected(assertSchema(pool, migrations))).toBe(
    'the tables of the database have version 2; this program needs version 3: run "league db migrate"',
  );
  await migrate(pool, migrations);
  expect(await rejected(assertSchema(pool, migrations))).toBe("accepted");
  const newer =
    "the tables of the database have version 3; this program knows versions up to 1: use a newer version of the program";
  expect(await rejected(migrate(pool, migrations.slice(0, 1)))).toBe(newer);
  expect(await rejected(assertSchema(pool, migrations.slice(0, 1)))).toBe(newer);
});
