import { messageOf } from "#shared/lib/result.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { LostCommit } from "#shared/store/postgres/connection.ts";
import { isUnavailable } from "#shared/store/postgres/faults.ts";
import { CommitUnknown, DatabaseUnavailable } from "../shared-run/run-database.ts";

/** Returns the error of `RunDatabase` for an error of pg, which is its cause. Returns any other error unchanged. */
export function runError(thrown: unknown): unknown {
  const cause = { cause: thrown };
  if (thrown instanceof LostCommit) return new CommitUnknown(inOneLine(messageOf(thrown)), cause);
  return isUnavailable(thrown)
    ? new DatabaseUnavailable(`the database does not answer: ${inOneLine(messageOf(thrown))}`, cause)
    : thrown;
}

/** Awaits an operation of pg. Rejects with the errors of `RunDatabase`. */
export async function withRunErrors<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (thrown) {
    throw runError(thrown);
  }
}
