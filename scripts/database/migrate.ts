import { counted } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { inMigration, migrate } from "#shared/store/postgres/migrations.ts";
import { appendOnlyTables } from "#shared/store/postgres/postgres-event-log.ts";
import { assertRole, grantedRoles, grantRights, UnusableRole } from "#shared/store/postgres/rights.ts";
import { createJobQueue } from "../../league-manager/postgres/job-queue.ts";
import { MIGRATIONS } from "../../league-manager/postgres/run-migrations.ts";
import { requireDatabase, withDatabase } from "./open.ts";

interface MigrateFlags {
  readonly database?: string;
  /** The role of the managers. Absent for the roles that have its rights already. */
  readonly role?: string;
}

/** `league db migrate`: creates or updates the tables, and grants rights on them. Resolves with the exit code. */
export async function migrateDatabase(flags: MigrateFlags): Promise<number> {
  const url = requireDatabase(flags.database);
  return withDatabase(url, async ({ pool }) => {
    const { role: newRole } = flags;
    if (newRole !== undefined) await usable(assertRole(pool, newRole));
    const applied = await migrate(pool, MIGRATIONS);
    const roles = await inMigration(pool, async (client) => {
      await createJobQueue(url);
      // New tables need rights too, so the roles of earlier calls are granted theirs again.
      const named = newRole === undefined ? await grantedRoles(client) : [newRole];
      for (const role of named) await usable(grantRights(client, role, appendOnlyTables(MIGRATIONS)));
      return named;
    });
    const lines = [
      applied.length === 0
        ? `the tables have version ${MIGRATIONS.length} already`
        : `the tables have version ${MIGRATIONS.length} now: ${counted(applied.length, "migration")} applied (${applied.map(({ name }) => name).join(", ")})`,
      ...roles.map((role) => `role ${role} can append to the logs and read them, but not change them`),
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
    return EXIT.ok;
  });
}

/** Rejects with StartError if a role cannot be the one of the managers. */
async function usable(step: Promise<void>): Promise<void> {
  try {
    await step;
  } catch (thrown) {
    throw thrown instanceof UnusableRole ? new StartError(thrown.message) : thrown;
  }
}
