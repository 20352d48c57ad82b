import { expect, test } from "vitest";
import { openPostgres } from "./connection.ts";
import { BadDatabaseUrl, parseDatabaseUrl } from "./url.ts";

const opened = (url: string) => () => openPostgres(url, { applicationName: "test" });

test.each([
  "options=-c%20lock_timeout=0",
  "lock_timeout=0",
  "idle_in_transaction_session_timeout=0",
  "query_timeout=9",
])("the URL of a database cannot replace a time limit of the program: %s", (parameter) => {
  const name = parameter.split("=")[0];
  expect(opened(`postgres://league:secret@db/league?sslmode=disable&${parameter}`)).toThrow(
    new BadDatabaseUrl(
      `the URL of the database must not have the parameter "${name}": the program sets it itself, because results would be unsafe with other time limits`,
    ),
  );
});

test("the error about an unknown parameter or sslmode names those that are allowed", () => {
  expect(opened("postgres://db/league?sslmod=require")).toThrow(
    'the URL of the database has an unknown parameter "sslmod": allowed are host, sslmode, sslcert, sslkey, sslrootcert',
  );
  // pg takes the last one.
  expect(opened("postgres://db/league?sslmode=require&sslmode=verify_full")).toThrow(
    'the URL of the database has an unknown sslmode "verify_full": allowed are disable, require, verify-ca, verify-full',
  );
});

test("the error about a file that cannot be read names the file and the parameter", () => {
  expect(opened("postgres://db/league?sslmode=verify-full&sslrootcert=/nowhere/ca.crt")).toThrow(
    new BadDatabaseUrl(
      "the file /nowhere/ca.crt cannot be read (ENOENT): correct sslrootcert in the URL of the database",
    ),
  );
});

test.each(["se@cret", "se#cret", "se/cret", "1/cret", "1#cret", "se?cret", "1?cret"])(
  "a password that needs a %%-escape is rejected without being shown: %s",
  (password) => {
    expect(() => parseDatabaseUrl(`postgres://league:${password}@db/league`)).toThrow(
      new BadDatabaseUrl(
        "the URL of the database has a character that needs a %-escape: in the user and the password, write @ as %40, / as %2F, # as %23, ? as %3F, % as %25",
      ),
    );
  },
);

test("a URL with %-escapes, a socket or a certificate is valid", () => {
  expect(parseDatabaseUrl("postgres://a%40b:s%2F%23%3F@db:5433/le%2Fague?sslmode=verify-full&sslrootcert=x")).toEqual({
    user: "a@b",
    server: "db:5433",
    database: "le/ague",
  });
  expect(parseDatabaseUrl("postgres://league@/league?host=/run/postgresql").server).toBe("/run/postgresql");
});
