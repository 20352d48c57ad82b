import { messageOf } from "#shared/lib/result.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { LostCommit } from "#shared/store/postgres/connection.ts";
import { isUnavailable } from "#shared/store/postgres/faults.ts";
import { CommitUnknown, DatabaseUnavailable } from "../shared-run/run-database.ts";

/** Returns the error of `RunDatabase` for an error of pg, which is its cause. Returns any other error unchanged. */
export function runError(thrown: unknown): unknown {
  if (thrown instanceof LostCommit) return new CommitUnknown(inOneLine(messageOf(thrown)), { cause: thrown });
  return isUnavailable(thrown) ? unavailable(thrown) : thrown;
}

const unavailable = (thrown: unknown): DatabaseUnavailable =>
  new DatabaseUnavailable(`the database does not answer: ${inOneLine(messageOf(thrown))}`, { cause: thrown });

/** Awaits an operation of pg that changes nothing. A connection that is lost during its COMMIT is a database that does not answer. */
export async function withReadErrors<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (thrown) {
    throw thrown instanceof LostCommit ? unavailable(thrown) : runError(thrown);
  }
}

/** Awaits an operation of pg. Rejects with the errors of `RunDatabase`. */
export async function withRunErrors<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (thrown) {
    throw runError(thrown);
  }
}
