import type { ClientBase } from "pg";
import type { Queryable } from "#shared/store/postgres/log-statements.ts";

/** A transaction of the run. Its statements are sent without waiting for the answers to earlier ones. After one has failed, all later ones fail. */
export type RunTransaction = Queryable;

/** The names of prepared statements by their texts. */
const names = new Map<string, string>();
const MAX_NAMES = 200;

/** Returns the transaction of a connection. The server parses each text once for each connection. */
export const transactionOn = (client: ClientBase): RunTransaction => ({
  query(text, values) {
    if (!names.has(text) && names.size < MAX_NAMES) names.set(text, `run_${names.size + 1}`);
    return client.query({ name: names.get(text), text, values });
  },
});
