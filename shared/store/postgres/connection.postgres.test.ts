import { execFileSync } from "node:child_process";
import { chownSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  execute,
  type PostgresServer,
  postgresProgram,
  sharedPostgres,
  startPostgres,
} from "../testing/postgres-server.ts";
import { inTransaction, LostCommit, openPostgres, type Postgres, type PostgresOptions } from "./connection.ts";
import { databaseFault, isUnavailable } from "./faults.ts";

let server: PostgresServer;
const open: Postgres<unknown>[] = [];
const openIt = (url: string, options: Partial<PostgresOptions> = {}): Postgres<unknown> => {
  const opened = openPostgres<unknown>(url, { applicationName: "test", ...options });
  open.push(opened);
  return opened;
};
/** Resolves with the error of a query. */
const errorOf = (query: Promise<unknown>): Promise<unknown> =>
  query.then(
    () => "no error",
    (thrown) => thrown,
  );
const faultOf = async (url: string): Promise<string> => {
  const thrown = await errorOf((async () => openIt(url).pool.query("SELECT 1"))());
  return databaseFault(thrown, url);
};

beforeAll(async () => {
  server = await sharedPostgres();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ close }) => close()));
});

test("a session has the time limits and the name, and counts are numbers", async () => {
  const { pool } = openIt(server.url);
  const setting = async (name: string) => (await pool.query(`SHOW ${name}`)).rows[0][name];
  expect(await setting("idle_in_transaction_session_timeout")).toBe("2s");
  expect(await setting("statement_timeout")).toBe("10s");
  expect(await setting("lock_timeout")).toBe("5s");
  expect(await setting("application_name")).toBe("test");
  expect(await setting("tcp_keepalives_idle")).toBe("5");
  expect((await pool.query("SELECT count(*) AS count FROM generate_series(1, 3)")).rows).toEqual([{ count: 3 }]);
  await expect(pool.query("SELECT 9007199254740993::int8")).rejects.toThrow("not a safe integer");
});

describe("a transaction", () => {
  let url: string;
  beforeAll(async () => {
    url = await server.createDatabase();
    await execute(url, "CREATE TABLE t (n int, CONSTRAINT one UNIQUE (n) DEFERRABLE INITIALLY DEFERRED)");
  });
  const rows = async (): Promise<unknown[]> => (await execute(url, "SELECT n FROM t ORDER BY n")).map(({ n }) => n);

  test("is committed, or rolled back if its body throws, and the connection is used again", async () => {
    const { pool } = openIt(url, { maxConnections: 1 });
    expect(await inTransaction(pool, async (client) => (await client.query("INSERT INTO t VALUES (1)")).rowCount)).toBe(
      1,
    );
    const failed = inTransaction(pool, async (client) => {
      await client.query("INSERT INTO t VALUES (2)");
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    expect(await rows()).toEqual([1]);
  });

  test("rejects with the error of a deferred constraint, and with a TypeError if the body hides an error", async () => {
    const { pool } = openIt(url);
    await expect(inTransaction(pool, (client) => client.query("INSERT INTO t VALUES (8), (8)"))).rejects.toMatchObject({
      code: "23505",
    });
    const hidden = inTransaction(pool, (client) => client.query("SELECT 1/0").catch(() => {}));
    await expect(hidden).rejects.toThrow(TypeError);
    expect(await rows()).not.toContain(8);
  });

  test("that waits too long for its client is ended by the server, and the process continues", async () => {
    const { pool } = openIt(url);
    const ended = Promise.withResolvers<void>();
    const late = inTransaction(pool, async (client) => {
      await client.query("SET idle_in_transaction_session_timeout = 50");
      client.once("end", ended.resolve);
      await ended.promise;
      await client.query("INSERT INTO t VALUES (9)");
    });
    const thrown = await errorOf(late);
    expect(isUnavailable(thrown)).toBe(true);
    expect(thrown).not.toBeInstanceOf(LostCommit);
    expect((await pool.query("SELECT 1 AS n")).rows).toEqual([{ n: 1 }]);
  });

  test("rejects with LostCommit if the connection is terminated during COMMIT", async () => {
    const { pool } = openIt(url);
    await execute(
      url,
      `CREATE TABLE slow (n int);
       CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(30); RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()`,
    );
    let pid = 0;
    const lost = errorOf(
      inTransaction(pool, async (client) => {
        pid = (await client.query("SELECT pg_backend_pid() AS pid")).rows[0].pid;
        await client.query("INSERT INTO slow VALUES (1)");
      }),
    );
    await expect
      .poll(() => execute(url, `SELECT query FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'PgSleep'`))
      .toEqual([{ query: "COMMIT" }]);
    await execute(url, `SELECT pg_terminate_backend(${pid})`);
    expect(await lost).toBeInstanceOf(LostCommit);
    expect(await execute(url, "SELECT * FROM slow")).toEqual([]);
  });
});

describe("an unavailable database", () => {
  test("statements and locks that take too long, deadlocks and conflicts of transactions are unavailable", async () => {
    const url = await server.createDatabase();
    const { pool } = openIt(url, { statementTimeoutMs: 200 });
    expect(isUnavailable(await errorOf(pool.query("SELECT pg_sleep(30)")))).toBe(true);
    const raised = async (code: string) =>
      isUnavailable(await errorOf(pool.query(`DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '${code}'; END $$`)));
    for (const code of ["40001", "40P01", "53300", "55P03", "25P03", "57P01", "57P03"]) {
      expect([code, await raised(code)]).toEqual([code, true]);
    }
    for (const code of ["23505", "42P01", "28P01", "XX001", "22012"]) {
      expect([code, await raised(code)]).toEqual([code, false]);
    }
    expect(isUnavailable(new Error("x"))).toBe(false);
  });

  test("a server that stops or is killed is unavailable until it is started again, with all that was committed", async () => {
    const own = await startPostgres();
    try {
      const { pool } = openIt(own.url);
      await pool.query("CREATE TABLE t (n int)");
      for (const end of [own.halt, own.kill9]) {
        await pool.query("INSERT INTO t VALUES (1)");
        const waiting = errorOf(pool.query("SELECT pg_sleep(30)"));
        await expect
          .poll(() => execute(own.url, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"))
          .toHaveLength(1);
        await end();
        expect(isUnavailable(await waiting)).toBe(true);
        const refused = await errorOf(pool.query("SELECT 1"));
        expect([isUnavailable(refused), databaseFault(refused, own.url)]).toEqual([
          true,
          `no PostgreSQL server listens at 127.0.0.1:${own.port}: start it, or correct the address`,
        ]);
        await own.restart();
      }
      expect((await pool.query("SELECT count(*) FROM t")).rows).toEqual([{ count: 2 }]);
    } finally {
      await own.stop();
    }
  });

  test("a server that accepts connections and does not answer is unavailable", async () => {
    const silent = createServer();
    const port = await listen(silent);
    try {
      const url = `postgres://someone:secret@127.0.0.1:${port}/x`;
      const thrown = await errorOf(openIt(url).pool.query("SELECT 1"));
      expect([isUnavailable(thrown), databaseFault(thrown, url)]).toEqual([
        true,
        `PostgreSQL at 127.0.0.1:${port} does not answer: check the address and the network`,
      ]);
    } finally {
      silent.close();
    }
  });

  test("a connection on which a statement receives no answer is closed", async () => {
    const { pool } = openIt(server.url, { maxConnections: 1 });
    const client = await pool.connect();
    const pid = async (): Promise<number> => (await pool.query("SELECT pg_backend_pid() AS pid")).rows[0].pid;
    const first = (await client.query("SELECT pg_backend_pid() AS pid")).rows[0].pid;
    const thrown = await errorOf(client.query({ text: "SELECT pg_sleep(30)", query_timeout: 50 } as { text: string }));
    expect([isUnavailable(thrown), String(thrown)]).toEqual([true, "Error: Query read timeout"]);
    client.release();
    expect(await pid()).not.toBe(first);
  });
});

describe("the message about a database that cannot be opened", () => {
  test("names the wrong part of the URL, without the password", async () => {
    const { port } = server;
    const of = (part: "username" | "password" | "pathname" | "hostname", value: string): Promise<string> => {
      const url = new URL(server.url);
      url[part] = value;
      return faultOf(url.href);
    };
    const wrong = [
      await of("password", "secret"),
      await of("password", ""),
      await of("username", "ann"),
      await of("pathname", "/none"),
      await of("hostname", "nowhere.invalid"),
      await faultOf("mysql://root@127.0.0.1/x"),
      await faultOf("secret"),
      await faultOf("postgres://a:sec%ret@127.0.0.1/x"),
    ];
    const badUrl =
      "not the URL of a PostgreSQL database: use postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %-escapes";
    expect(wrong).toEqual([
      `PostgreSQL at 127.0.0.1:${port} rejects user "postgres": the name or the password is wrong`,
      `PostgreSQL at 127.0.0.1:${port} requires a password for user "postgres"`,
      `PostgreSQL at 127.0.0.1:${port} rejects user "ann": the name or the password is wrong`,
      `PostgreSQL at 127.0.0.1:${port} has no database "none": create it, e.g. with createdb`,
      `the host of nowhere.invalid:${port} is unknown: correct the address of the database`,
      badUrl,
      badUrl,
      badUrl,
    ]);
  });
});

test("sslmode in the URL has the meaning that it has for pg_dump", async () => {
  const own = await startPostgres();
  try {
    expect(await faultOf(`${own.url}?sslmode=require`)).toBe(
      `PostgreSQL at 127.0.0.1:${own.port} does not offer TLS: set ssl = on there, or omit sslmode`,
    );
    const [{ data = "", hba = "" } = {}] = (await execute(
      own.url,
      "SELECT current_setting('data_directory') AS data, current_setting('hba_file') AS hba",
    )) as readonly { data?: string; hba?: string }[];
    const [certificate, key] = ["server.crt", "server.key"].map((name) => join(data, name)) as [string, string];
    const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=league", "-days", "2"];
    execFileSync("openssl", [...request, "-out", certificate, "-keyout", key], { stdio: "ignore" });
    const { uid, gid } = statSync(data);
    chownSync(key, uid, gid);
    writeFileSync(hba, readFileSync(hba, "utf8").replaceAll(/^host\b/gm, "hostssl"));
    await execute(own.url, "ALTER SYSTEM SET ssl = on");
    await own.restart();

    expect(await faultOf(own.url)).toBe(
      `PostgreSQL at 127.0.0.1:${own.port} requires TLS: add ?sslmode=verify-full&sslrootcert=FILE to the URL; FILE has the certificate of its issuer`,
    );
    const isEncrypted = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    const required = `${own.url}?sslmode=require`;
    expect((await openIt(required).pool.query(isEncrypted)).rows).toEqual([{ ssl: true }]);
    const psql = ["--no-psqlrc", "--tuples-only", "--command", isEncrypted, required];
    expect(execFileSync(postgresProgram("psql"), psql, { encoding: "utf8" }).trim()).toBe("t");
    expect(await faultOf(`${own.url}?sslmode=verify-full`)).toMatch(
      /^the certificate of PostgreSQL at 127\.0\.0\.1:\d+ is not accepted \(self-signed certificate\): name the file/,
    );
    expect(await faultOf(`${own.url}?sslmode=verify-ca`)).toBe(
      "sslmode=verify-ca requires the certificate of the issuer: add sslrootcert=FILE to the URL",
    );
    const pinned = `${own.url}?sslmode=verify-ca&sslrootcert=${encodeURIComponent(certificate)}`;
    expect((await openIt(pinned).pool.query(isEncrypted)).rows).toEqual([{ ssl: true }]);
  } finally {
    await own.stop();
  }
});

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
