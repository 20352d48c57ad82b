import { readFileSync } from "node:fs";
import { inOneLine } from "../../lib/text.ts";

/** The parts of the URL of a database that may be shown: all but the password. */
interface DatabaseAddress {
  readonly user: string | null;
  /** `HOST:PORT`, or the folder of a Unix socket. */
  readonly server: string;
  /** Null if the URL names no database. PostgreSQL then uses the one with the name of the user. */
  readonly database: string | null;
}

/** Thrown if a text is not the URL of a PostgreSQL database. The message does not contain the text, which may contain a password. */
export class BadDatabaseUrl extends Error {
  override readonly name = "BadDatabaseUrl";
  constructor(
    message = "not the URL of a PostgreSQL database: use postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %-escapes",
  ) {
    super(message);
  }
}

/** The parameters that name files. */
const FILES = ["sslcert", "sslkey", "sslrootcert"] as const;
const PARAMETERS: readonly string[] = ["host", "sslmode", ...FILES];
/** The modes that pg implements as the programs of PostgreSQL do. */
const SSL_MODES: readonly string[] = ["disable", "require", "verify-ca", "verify-full"];
/** Parameters of PostgreSQL that would replace settings of the program. */
const SETTINGS = /^(options|application_name|\w+_timeout|tcp_\w+|keepalives\w*)$/;

/** Parses the URL of a database, e.g. `postgres://league@db.example:5432/league` or `postgres:///league?host=/run/postgresql`. */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  const url = parsed(text);
  for (const [name, value] of url.searchParams) assertParameter(name, value);
  try {
    decodeURIComponent(url.password);
    const host = url.searchParams.get("host") ?? (url.hostname || "localhost");
    return {
      user: url.username === "" ? null : decodeURIComponent(url.username),
      server: host.startsWith("/") ? host : `${host}:${url.port || "5432"}`,
      database: url.pathname.length > 1 ? decodeURIComponent(url.pathname.slice(1)) : null,
    };
  } catch {
    throw new BadDatabaseUrl(); // an invalid %-escape
  }
}

function parsed(text: string): URL {
  if (!/^postgres(ql)?:\/\//.test(text)) throw new BadDatabaseUrl();
  // Each parser would take another part of such a URL for the password.
  if (/#|^\w+:\/\/[^@/?]*[@/?].*@/s.test(text)) {
    throw new BadDatabaseUrl(
      "the URL of the database has a character that needs a %-escape: in the user and the password, write @ as %40, / as %2F, # as %23, ? as %3F, % as %25",
    );
  }
  // The parser rejects a URL with a user and without a host, which names a Unix socket.
  const url = URL.parse(text.replace(/^(\w+:\/\/[^@/]*@)\//, "$1localhost/"));
  // A password in the query could not be hidden from other users by `splitPassword`.
  if (!url || url.searchParams.has("password")) throw new BadDatabaseUrl();
  return url;
}

function assertParameter(name: string, value: string): void {
  if (SETTINGS.test(name)) {
    throw new BadDatabaseUrl(
      `the URL of the database must not have the parameter "${name}": the program sets it itself, because results would be unsafe with other time limits`,
    );
  }
  if (!PARAMETERS.includes(name)) {
    throw new BadDatabaseUrl(
      `the URL of the database has an unknown parameter "${inOneLine(name)}": allowed are ${PARAMETERS.join(", ")}`,
    );
  }
  if (name === "sslmode" && !SSL_MODES.includes(value)) {
    throw new BadDatabaseUrl(
      `the URL of the database has an unknown sslmode "${inOneLine(value)}": allowed are ${SSL_MODES.join(", ")}`,
    );
  }
}

/** Throws BadDatabaseUrl if a valid URL names a file that cannot be read, e.g. `sslrootcert`. */
export function assertFiles(text: string): void {
  const { searchParams } = parsed(text);
  for (const name of FILES) {
    const file = searchParams.get(name);
    if (file === null) continue;
    try {
      readFileSync(file);
    } catch (thrown) {
      throw new BadDatabaseUrl(
        `the file ${inOneLine(file)} cannot be read (${(thrown as NodeJS.ErrnoException).code}): correct ${name} in the URL of the database`,
      );
    }
  }
}

/** Returns a valid URL without its password, for arguments of processes, which other users can see; and the password. */
export function splitPassword(text: string): { readonly withoutPassword: string; readonly password: string | null } {
  parseDatabaseUrl(text);
  const [, before = "", password, after = ""] = /^(\w+:\/\/[^:@/]*)(?::([^@/]*))?(.*)$/s.exec(text) ?? [];
  return { withoutPassword: before + after, password: password ? decodeURIComponent(password) : null };
}
