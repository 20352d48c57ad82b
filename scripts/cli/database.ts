import type { Command } from "commander";
import { databaseOption, withExamples, withUsageExit } from "#shared/runtime/command-options.ts";
import { exitWith, subcommand } from "./command-line.ts";

/** Adds the commands for the PostgreSQL database of a league with several managers. */
export function addDatabaseCommands(): void {
  const group = subcommand("db", "Prepare, check and back up the PostgreSQL database of a league.", [
    "export DATABASE_URL=postgres://league_owner:PASSWORD@db.example/league",
    "npm run league -- db migrate --role league_manager",
    "npm run league -- db check",
    "npm run league -- db backup league.dump",
  ]);
  const add = (usage: string, description: string, examples: readonly string[]): Command =>
    withExamples(withUsageExit(group.command(usage)).description(description), examples).addOption(databaseOption());

  add("migrate", "Create or update the tables. The user of the URL becomes or is their owner.", [
    "npm run league -- db migrate                            # as the owner of the database",
    "npm run league -- db migrate --role league_manager      # managers connect as this role",
  ])
    .option(
      "--role <name>",
      "role of the managers: it may append to logs and read them, but not change them (default: the roles of earlier calls)",
    )
    .action(async (options) => exitWith((await import("../database/migrate.ts")).migrateDatabase(options)));

  add("check", "Check the hashes of all events, and what protects them from changes.", [
    "npm run league -- db check    # also while managers are running",
  ]).action(async (options) => exitWith((await import("../database/check.ts")).checkDatabase(options)));

  add("backup <file>", "Write all tables into a file, with pg_dump.", [
    "npm run league -- db backup league-2026-11-24.dump    # also while managers are running",
  ]).action(async (file: string, options) =>
    exitWith((await import("../database/backup.ts")).backUpDatabase(file, options)),
  );
}
