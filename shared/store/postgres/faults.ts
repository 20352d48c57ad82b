import { inOneLine } from "../../lib/text.ts";
import { BadDatabaseUrl, parseDatabaseUrl } from "./url.ts";

/**
 * Codes of errors that do not depend on the statement: the database is starting, stopping, overloaded or read-only, or
 * it has ended the transaction because of another one or of a time limit.
 */
const UNAVAILABLE_STATES = /^(08...|53...|57P0.|57014|58030|40001|40P01|55P03|25P0[34]|25006)$/;

/** Codes of errors of the system and of its network. */
const UNAVAILABLE_SYSTEM_ERRORS = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "EAI_AGAIN",
  "ENOTFOUND",
  // This process has too many open files, or the system too many connections.
  "EMFILE",
  "ENFILE",
  "ENOBUFS",
  "EADDRNOTAVAIL",
]);

/** The calls of the system that use the network. Each of their errors counts, because a firewall or an interface that is gone causes any of several codes. */
const NETWORK_CALLS: ReadonlySet<unknown> = new Set(["connect", "read", "write", "getaddrinfo"]);

/** Messages of errors of pg and its pool, which have no codes. */
const UNAVAILABLE_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|timeout exceeded when trying to connect|timeout expired)/;

/**
 * Returns whether an error means that the database does not answer now or has rolled the transaction back because of
 * another one. The same transaction may succeed later. If it was lost during COMMIT, see `LostCommit`.
 */
export function isUnavailable(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const { code, syscall } = thrown as { code?: unknown; syscall?: unknown };
  if (NETWORK_CALLS.has(syscall)) return true;
  if (typeof code === "string") return UNAVAILABLE_STATES.test(code) || UNAVAILABLE_SYSTEM_ERRORS.has(code);
  return UNAVAILABLE_MESSAGES.test(thrown.message);
}

/** Codes of errors that the operator causes: a wrong user, password or database, missing rights, and a database that a migration rejects. */
const OPERATOR_STATES = /^(28...|3D000|42501|P0001)$/;

/** Codes of Node for a certificate of the server that it does not accept. */
const CERTIFICATE_CODES = /^(ERR_TLS_CERT_|UNABLE_TO_(GET|VERIFY)_|(DEPTH_ZERO_)?SELF_SIGNED_CERT|CERT_)/;

/** Returns whether an error is a fault of the operation, not of this program. `databaseFault` describes it. */
export function isOperatingFault(thrown: unknown): boolean {
  if (thrown instanceof BadDatabaseUrl || isUnavailable(thrown)) return true;
  if (!(thrown instanceof Error)) return false;
  const { code } = thrown as { code?: unknown };
  const isOfOperator = typeof code === "string" && (OPERATOR_STATES.test(code) || CERTIFICATE_CODES.test(code));
  return isOfOperator || [NO_PASSWORD, NO_TLS, NO_ISSUER].some((fault) => fault.test(thrown.message));
}

/** The error of pg if the server requires a password and the URL has none. */
const NO_PASSWORD = /client password must be a/;
/** The error of pg if the URL requires TLS and the server does not offer it. */
const NO_TLS = /server does not support SSL/;
/** The error of pg for `sslmode=verify-ca` without `sslrootcert`. */
const NO_ISSUER = /requires specifying a CA with sslrootcert/;

/** Returns one line for the person at the terminal: what is wrong with the database, and what to do. It contains no password. */
export function databaseFault(thrown: unknown, url: string): string {
  if (thrown instanceof BadDatabaseUrl) return thrown.message;
  const { user, server, database } = parseDatabaseUrl(url);
  const { code = "", message = String(thrown) } = (thrown ?? {}) as { code?: string; message?: string };
  const as = user === null ? "this user" : `user "${user}"`;
  switch (code) {
    case "ECONNREFUSED":
    case "ENOENT":
      return `no PostgreSQL server listens at ${server}: start it, or correct the address`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the host of ${server} is unknown: correct the address of the database`;
    case "28P01":
      return `PostgreSQL at ${server} rejects ${as}: the name or the password is wrong`;
    case "28000":
      return /no encryption/.test(message)
        ? `PostgreSQL at ${server} requires TLS: add ?sslmode=verify-full&sslrootcert=FILE to the URL; FILE has the certificate of its issuer`
        : `PostgreSQL at ${server} rejects ${as}: ${inOneLine(message)}`;
    case "3D000":
      return `PostgreSQL at ${server} has no database "${database ?? user}": create it, e.g. with createdb`;
    case "42501":
      return `${as} lacks a right in the database at ${server}: ${inOneLine(message)}; "league db migrate --role USER", entered as the owner of the tables, grants a manager its rights`;
    case "53300":
      return `PostgreSQL at ${server} has too many connections: raise max_connections or start fewer managers`;
    case "57P03":
      return `PostgreSQL at ${server} is starting or stopping: try again`;
  }
  if (CERTIFICATE_CODES.test(code)) {
    const reason = inOneLine(message.split(";", 1)[0] ?? message);
    return `the certificate of PostgreSQL at ${server} is not accepted (${reason}): name the file of its issuer with sslrootcert in the URL`;
  }
  if (NO_PASSWORD.test(message)) return `PostgreSQL at ${server} requires a password for ${as}`;
  if (NO_TLS.test(message)) return `PostgreSQL at ${server} does not offer TLS: set ssl = on there, or omit sslmode`;
  if (NO_ISSUER.test(message))
    return "sslmode=verify-ca requires the certificate of the issuer: add sslrootcert=FILE to the URL";
  if (/timeout|timed out/i.test(message))
    return `PostgreSQL at ${server} does not answer: check the address and the network`;
  return `PostgreSQL at ${server}: ${inOneLine(message)}`;
}
