import { Kysely, PostgresDialect } from "kysely";
import type { Pool } from "pg";
import { assertSchema } from "#shared/store/postgres/migrations.ts";
import type { ManagerStore } from "../store/manager-store.ts";
import { MIGRATIONS } from "./migrations.ts";
import { runStore } from "./run-store.ts";
import type { RunTables } from "./tables.ts";

/** The data of a run at one moment. */
export type StoredRunData = Pick<
  ManagerStore,
  "readEvents" | "streams" | "loadProfiles" | "sessionLogOf" | "answerTimesOf" | "readSnapshot" | "getMeta"
>;

/**
 * Calls `read` with the data of a run at one moment. It may read for a long time while managers continue the run. Rejects with OtherSchema if the tables
 * have another version.
 */
export async function readPostgresRun<T>(pool: Pool, read: (data: StoredRunData) => Promise<T>): Promise<T> {
  await assertSchema(pool, MIGRATIONS);
  const client = await pool.connect();
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    // The caller may compute for a long time between two reads.
    await client.query("SET LOCAL idle_in_transaction_session_timeout = 0");
    const connect = async () => ({ query: client.query.bind(client), release() {} });
    const dialect = new PostgresDialect({ pool: { connect, end: async () => {} } as never });
    return await read(runStore({ pool: client, kysely: new Kysely<RunTables>({ dialect }) }));
  } finally {
    client.release(true); // the end of the connection ends the transaction
  }
}
