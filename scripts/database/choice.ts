import type { Command } from "commander";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";

/**
 * Returns the URL of the database that a command uses instead of a folder; null if it uses a folder. DATABASE_URL counts only if no folder is named.
 * `folder` describes how the folder is named on the command line, e.g. `--data`. Throws StartError if a folder and `--database` are named.
 */
export function chosenDatabase(command: Command, isFolderNamed: boolean, folder: string): string | null {
  const { database } = command.opts<{ readonly database?: string }>();
  if (!database) return null;
  if (!isFolderNamed) return database;
  if (command.getOptionValueSource("database") === "env") return null;
  throw new StartError(`name either ${folder} or --database`, EXIT.usage);
}
