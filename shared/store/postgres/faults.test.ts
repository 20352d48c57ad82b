import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { inTransaction, openPostgres } from "./connection.ts";
import { databaseFault, isOperatingFault, isUnavailable } from "./faults.ts";

test("a certificate that is not accepted is a fault of the operator, with the remedy", () => {
  const url = "postgres://league:secret@db.example/league?sslmode=verify-full";
  const code = "DEPTH_ZERO_SELF_SIGNED_CERT";
  const error = Object.assign(new Error("self-signed certificate; if the root CA is installed locally, …"), { code });
  expect(isOperatingFault(error)).toBe(true);
  expect(databaseFault(error, url)).toBe(
    "the certificate of PostgreSQL at db.example:5432 is not accepted (self-signed certificate): name the file of its issuer with sslrootcert in the URL",
  );
});

test("a server without TLS is a fault of the operator if the URL requires TLS", async () => {
  const server = createServer((socket) => void socket.once("data", () => socket.end("N")));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as { port: number };
  const url = `postgres://league@127.0.0.1:${port}/league?sslmode=verify-full`;
  const { pool, close } = openPostgres(url, { applicationName: "test" });
  const failed = await inTransaction(pool, async () => null).catch((thrown: unknown) => thrown);
  await close();
  expect(isOperatingFault(failed)).toBe(true);
  expect(databaseFault(failed, url)).toMatch(
    /^PostgreSQL at 127\.0\.0\.1:\d+ does not offer TLS: set ssl = on there, or omit sslmode$/,
  );
});

test.each(["EMFILE", "EADDRNOTAVAIL", "25P04", "53100", "53300", "57P01", "57P03", "25006"])(
  "an error with the code %s means that the database does not answer now",
  (code) => expect(isUnavailable(Object.assign(new Error("any text"), { code }))).toBe(true),
);

test.each(["EACCES", "EINVAL", "ENOENT", "EPERM"])(
  "the error %s of a connection means that the database does not answer now, and that of a file does not",
  (code) => {
    const failed = (syscall: string) => Object.assign(new Error("any text"), { code, syscall });
    expect([isUnavailable(failed("connect")), isUnavailable(failed("open"))]).toEqual([true, false]);
  },
);
