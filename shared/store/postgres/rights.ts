import { type ClientBase, escapeIdentifier, type Pool } from "pg";

/** Thrown if a role cannot be used by managers. */
export class UnusableRole extends Error {
  override readonly name = "UnusableRole";
}

/** The schema of the queue, see `league-manager/postgres/job-queue.ts`. */
const QUEUE_SCHEMA = "pgboss";
const MIGRATIONS_TABLE = "schema_migrations";

/** The rights with which a role could change or remove rows, or add triggers that run before those that protect the rows. */
const FORBIDDEN = ["UPDATE", "DELETE", "TRUNCATE", "TRIGGER"] as const;

/** Roles with the right to append, directly or through another role. Predefined roles have names with pg_. */
const SELECT_WRITERS = `
  SELECT rolname AS role FROM pg_roles, pg_class
  WHERE pg_class.oid = to_regclass('log') AND NOT rolsuper AND NOT pg_has_role(pg_roles.oid, relowner, 'MEMBER')
    AND has_table_privilege(pg_roles.oid, pg_class.oid, 'INSERT') AND NOT starts_with(rolname, 'pg_')
  ORDER BY rolname`;
const SELECT_GRANTED = `
  SELECT rolname AS role FROM pg_class, aclexplode(relacl) JOIN pg_roles ON pg_roles.oid = grantee
  WHERE pg_class.oid = to_regclass('log') AND privilege_type = 'INSERT' AND grantee <> relowner ORDER BY rolname`;
const SELECT_ROLE = `
  SELECT rolsuper OR pg_has_role(pg_roles.oid, relowner, 'MEMBER') AS "isOwner" FROM pg_roles, pg_class
  WHERE rolname = $1 AND pg_class.oid = to_regclass('log')`;
const SELECT_UNLIMITED = "SELECT current_user AS name WHERE has_table_privilege('log', 'DELETE')";
const SELECT_TABLES = `
  SELECT schemaname AS schema, tablename AS name FROM pg_tables
  WHERE schemaname IN (current_schema(), '${QUEUE_SCHEMA}') ORDER BY schemaname, tablename`;
const SELECT_FORBIDDEN = `
  SELECT right_name AS right FROM unnest($3::text[]) AS right_name
  WHERE has_table_privilege($1, $2, right_name)
    OR (right_name = 'UPDATE' AND has_any_column_privilege($1, $2, right_name))`;

/** Returns the roles that can append to the log, without its owner and superusers, which have all rights. */
export async function writers(client: ClientBase): Promise<readonly string[]> {
  return (await client.query(SELECT_WRITERS)).rows.map(({ role }) => role);
}

/** Returns the roles to which `grantRights` has granted the tables. */
export async function grantedRoles(client: ClientBase): Promise<readonly string[]> {
  return (await client.query(SELECT_GRANTED)).rows.map(({ role }) => role);
}

/** Throws UnusableRole if there is no such role. It needs no tables. */
export async function assertRole(client: ClientBase | Pool, role: string): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM pg_roles WHERE rolname = $1", [role]);
  if (rowCount === 0) {
    throw new UnusableRole(`there is no role "${role}": create it, e.g. with createuser --pwprompt`);
  }
}

/** Returns the name of the current user if it may remove events from the log; otherwise null. */
export async function userWithoutLimits(client: ClientBase | Pool): Promise<string | null> {
  const { rows } = await client.query(SELECT_UNLIMITED);
  return rows[0]?.name ?? null;
}

/**
 * Grants a role exactly the rights that a manager needs: to insert into append-only tables and to read them, and to
 * change the rows of all other tables. The database must have no tables of other programs. Throws UnusableRole.
 */
export async function grantRights(client: ClientBase, role: string, appendOnly: readonly string[]): Promise<void> {
  await assertRole(client, role);
  const { rows } = await client.query(SELECT_ROLE, [role]);
  if (rows[0]?.isOwner) {
    throw new UnusableRole(
      `role "${role}" owns the tables or is a superuser, so its rights cannot be limited: name another role`,
    );
  }
  const tables = (await client.query(SELECT_TABLES)).rows as readonly { schema: string; name: string }[];
  const to = escapeIdentifier(role);
  for (const schema of new Set(tables.map(({ schema }) => schema))) {
    const name = escapeIdentifier(schema);
    await client.query(`GRANT USAGE ON SCHEMA ${name} TO ${to}`);
    await client.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${name} TO ${to}`);
  }
  for (const { schema, name } of tables) {
    const table = `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;
    const isQueue = schema === QUEUE_SCHEMA;
    const rights = isQueue ? "SELECT, INSERT, UPDATE, DELETE" : rightsTo(name, appendOnly);
    await client.query(`REVOKE ALL ON ${table} FROM ${to}; GRANT ${rights} ON ${table} TO ${to}`);
  }
}

function rightsTo(table: string, appendOnly: readonly string[]): string {
  if (table === MIGRATIONS_TABLE) return "SELECT";
  return appendOnly.includes(table) ? "SELECT, INSERT" : "SELECT, INSERT, UPDATE, DELETE";
}

/** Returns one sentence for each right with which a role could change an append-only table. */
export async function rightFaults(
  client: ClientBase,
  roles: readonly string[],
  appendOnly: readonly string[],
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const role of roles) {
    for (const table of appendOnly) {
      const { rows } = await client.query(SELECT_FORBIDDEN, [role, table, FORBIDDEN]);
      if (rows.length > 0)
        faults.push(`role ${role} has the right ${rows.map(({ right }) => right).join(", ")} on table ${table}`);
    }
  }
  return faults;
}
