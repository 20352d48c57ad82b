import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { inOneLine } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { inTransaction } from "#shared/store/postgres/connection.ts";
import { assertSchema } from "#shared/store/postgres/migrations.ts";
import { splitPassword } from "#shared/store/postgres/url.ts";
import { MIGRATIONS } from "../../league-manager/postgres/run-migrations.ts";
import { requireDatabase, withDatabase } from "./open.ts";
import { readRestored, restoreCommands } from "./restore-commands.ts";

/** `league db backup`: writes all tables into a file that only its owner may read. Resolves with the exit code. */
export async function backUpDatabase(path: string, flags: { readonly database?: string }): Promise<number> {
  const url = requireDatabase(flags.database);
  const file = resolve(path);
  if (existsSync(file)) throw new StartError(`${file} exists: name another file`, EXIT.usage);
  const restored = await withDatabase(url, async ({ pool }) => {
    await assertSchema(pool, MIGRATIONS);
    return inTransaction(pool, readRestored);
  });
  const partial = `${file}.partial`;
  if (existsSync(partial)) {
    throw new StartError(`${partial} exists: a backup is running, or has been interrupted; then remove the file`);
  }
  const output = openSync(partial, "wx", 0o600);
  try {
    await dump(url, output);
    fsyncSync(output);
    // Unlike a rename, a link does not replace a file that has been written in the meantime.
    linkSync(partial, file);
  } finally {
    closeSync(output);
    rmSync(partial);
  }
  const megabytes = (statSync(file).size / 1e6).toFixed(1);
  const commands = restoreCommands(restored, url, file).map((command) => `  ${command}\n`);
  process.stdout.write(`${file} written, ${megabytes} MB. To restore it into a new database:\n${commands.join("")}`);
  return EXIT.ok;
}

/** Writes a dump of a database to a file. Rejects with StartError if pg_dump is missing or fails. */
async function dump(url: string, output: number): Promise<void> {
  const { withoutPassword, password } = splitPassword(url);
  const args = ["--format=custom", "--no-password", "--dbname", withoutPassword];
  // The environment of a process is not shown to other users.
  const env = { ...process.env, PGCONNECT_TIMEOUT: "10", ...(password === null ? {} : { PGPASSWORD: password }) };
  const child = spawn("pg_dump", args, { env, stdio: ["ignore", output, "pipe"] });
  const messages = text(child.stderr as Readable);
  const [code] = await once(child, "close").catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== "ENOENT") throw thrown;
    throw new StartError("pg_dump is not installed: sudo apt-get install postgresql-client");
  });
  if (code === 0) return;
  const lines = (await messages).trim().split("\n").map(inOneLine);
  const reason = lines.join("; ") || `pg_dump has ended with ${code}`;
  throw new StartError(`no backup was written: ${reason}${hintFor(reason)}`);
}

/** Returns what the operator can do about a message of pg_dump; empty if that is not known. */
function hintFor(reason: string): string {
  if (reason.includes("version mismatch")) return "; install the package postgresql-client of the server's version";
  if (reason.includes("permission denied")) return "; use the URL of the owner of the tables, who may read all of them";
  return "";
}
