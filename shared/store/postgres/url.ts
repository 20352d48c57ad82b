/** The parts of the URL of a database that may be shown: all but the password. */
export interface DatabaseAddress {
  readonly user: string | null;
  /** `HOST:PORT`, or the folder of a Unix socket. */
  readonly server: string;
  /** Null if the URL names no database. PostgreSQL then uses the one with the name of the user. */
  readonly database: string | null;
}

/** Thrown if a text is not the URL of a PostgreSQL database. The message does not contain it, because it may contain a password. */
export class BadDatabaseUrl extends Error {
  override readonly name = "BadDatabaseUrl";
  constructor() {
    super("not the URL of a PostgreSQL database: use postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %-escapes");
  }
}

/** Parses the URL of a database, e.g. `postgres://league@db.example:5432/league` or `postgres:///league?host=/run/postgresql`. */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  // A URL without a host, for a Unix socket, is not one for the parser if it has a user.
  const url = /^postgres(ql)?:\/\//.test(text) ? URL.parse(text.replace(/^(\w+:\/\/[^@/]*@)\//, "$1localhost/")) : null;
  // A password in the query could not be hidden from other users by `splitPassword`.
  if (!url || url.searchParams.has("password")) throw new BadDatabaseUrl();
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

/** Returns a valid URL without its password, for arguments of processes, which other users can see; and the password. */
export function splitPassword(text: string): { readonly withoutPassword: string; readonly password: string | null } {
  parseDatabaseUrl(text);
  const [, before = "", password, after = ""] = /^(\w+:\/\/[^:@/]*)(?::([^@/]*))?(.*)$/s.exec(text) ?? [];
  return { withoutPassword: before + after, password: password ? decodeURIComponent(password) : null };
}
