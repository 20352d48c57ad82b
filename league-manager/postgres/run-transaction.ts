import type { ClientBase } from "pg";
import { messageOf } from "#shared/lib/result.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { LostCommit } from "#shared/store/postgres/connection.ts";
import { isUnavailable } from "#shared/store/postgres/faults.ts";
import type { Queryable } from "#shared/store/postgres/log-statements.ts";
import { CommitUnknown, DatabaseUnavailable } from "../shared-run/run-database.ts";

/**
 * A transaction of the run. Each statement is sent without waiting for the answers to earlier ones. After a statement has failed, all later ones reject
 * with its error.
 */
export type RunTransaction = Queryable;

/** The names of prepared statements by their texts. */
const names = new Map<string, string>();
const MAX_NAMES = 200;

function nameOf(text: string): string | undefined {
  if (!names.has(text) && names.size < MAX_NAMES) names.set(text, `run_${names.size + 1}`);
  return names.get(text);
}

/** Returns the transaction of a connection. The server parses each text once for each connection. */
export function transactionOn(client: ClientBase): RunTransaction {
  let failure: { readonly reason: unknown } | null = null;
  return {
    async query(text, values) {
      // The transaction may have ended. The statement would then be executed outside of it.
      if (failure) throw failure.reason;
      try {
        // A text without values may consist of several statements, which cannot be prepared.
        return await client.query({ name: values.length > 0 ? nameOf(text) : undefined, text, values });
      } catch (reason) {
        // PostgreSQL rejects the statements after the failed one with an error that does not state the reason.
        failure ??= { reason };
        throw failure.reason;
      }
    },
  };
}

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
