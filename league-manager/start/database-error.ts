import { EXIT, fileFault, StartError } from "#shared/runtime/process/exit.ts";
import { databaseFault, isOperatingFault } from "#shared/store/postgres/faults.ts";
import { OtherSchema } from "#shared/store/postgres/migrations.ts";
import { BadDatabaseUrl } from "#shared/store/postgres/url.ts";
import { DatabaseUnavailable } from "../shared-run/run-database.ts";

/** Returns an error of a database as a StartError, without the password of the URL, and any other error unchanged. */
export function startError(thrown: unknown, url: string): unknown {
  if (thrown instanceof BadDatabaseUrl) return new StartError(thrown.message, EXIT.usage);
  if (thrown instanceof OtherSchema) return new StartError(thrown.message);
  const fault = thrown instanceof DatabaseUnavailable ? thrown.cause : thrown;
  const isOfFile = fileFault(fault) !== null; // the body of a command may use files
  return isOperatingFault(fault) && !isOfFile ? new StartError(databaseFault(fault, url)) : thrown;
}
