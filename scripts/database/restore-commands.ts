import { LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import type { Connection } from "#shared/store/postgres/connection.ts";
import { grantedRoles } from "#shared/store/postgres/rights.ts";
import { splitPassword } from "#shared/store/postgres/url.ts";
import { inShell } from "../cli/shell-word.ts";

/** What the commands that restore a backup depend on. */
interface Restored {
  readonly database: string;
  readonly owner: string;
  /** The roles of the managers. Empty if they connect as the owner. */
  readonly roles: readonly string[];
}

const SELECT_NAMES = "SELECT current_database() AS database, current_user AS owner";

/** Reads the names that the commands that restore a backup need, as the owner of the tables. */
export async function readRestored(client: Connection): Promise<Restored> {
  const { rows } = await client.query<{ database: string; owner: string }>(SELECT_NAMES);
  const [{ database, owner } = { database: "", owner: "" }] = rows;
  return { database, owner, roles: await grantedRoles(client) };
}

/** Returns the commands that restore a backup into a new database beside the former one. The password in its URL is replaced by the word PASSWORD. */
export function restoreCommands({ database, owner, roles }: Restored, url: string, file: string): readonly string[] {
  const name = `${database}_restored`;
  const create = ["createdb --owner", inShell(owner), "--encoding UTF8 --template template0", inShell(name)].join(" ");
  return [
    `runuser -u postgres -- ${create}    # as root on the machine of the database`,
    `export DATABASE_URL=${inShell(urlOf(name, url))}`,
    `pg_restore --exit-on-error --single-transaction --no-owner --no-privileges --dbname "$DATABASE_URL" ${inShell(file)}`,
    ...(roles.length === 0
      ? [`${LEAGUE_COMMAND} db migrate`]
      : roles.map(
          (role) => `${LEAGUE_COMMAND} db migrate --role ${inShell(role)}    # grants the rights of the managers`,
        )),
    `${LEAGUE_COMMAND} db check`,
  ];
}

/** Returns the URL of another database of the same server and user. */
function urlOf(database: string, url: string): string {
  const { withoutPassword, password } = splitPassword(url);
  const other = withoutPassword.replace(/^(\w+:\/\/[^/?]*)(?:\/[^?]*)?/, `$1/${encodeURIComponent(database)}`);
  return password === null ? other : other.replace("@", ":PASSWORD@");
}
