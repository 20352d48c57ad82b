import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { openPostgres, type PostgresOptions } from "#shared/store/postgres/connection.ts";
import { assertSchema } from "#shared/store/postgres/migrations.ts";
import { userWithoutLimits } from "#shared/store/postgres/rights.ts";
import type { RunDatabase } from "../shared-run/run-database.ts";
import type { ManagerStore } from "../store/manager-store.ts";
import { openNotifications, recordHeartbeat, recordLeave, timeOf } from "./listener.ts";
import { COMMITS_OF_A_READ, type JobWriter, joinParts, readParts, runTransactions } from "./run-commits.ts";
import { MIGRATIONS } from "./run-migrations.ts";
import { type RunTables, runStore } from "./run-store.ts";
import { withReadErrors } from "./run-transaction.ts";

/** A run on PostgreSQL, as one of its managers uses it. */
export type PostgresRun = ManagerStore & RunDatabase;

export interface PostgresRunOptions {
  readonly url: string;
  readonly queue: JobWriter;
  readonly clock: Pick<Clock, "monotonic" | "pause">;
  readonly ids: Pick<Ids, "uuid">;
  /** Prints a warning for the operator, at the start, if the user may remove events from the log. */
  readonly warn?: (line: string) => void;
  /** The maximum number of later commits that one read returns. */
  readonly maxCommits?: number;
}

/** The maximum number of connections for reads: those of pages, of archives and of the start. */
const READERS = 7;
/** The time limits of a statement of a transaction, which may wait for the lock, and of a statement of the connection that listens. */
const WRITER_TIMEOUT_MS = 5_000;
const LISTENER_TIMEOUT_MS = 1_000;

/**
 * Opens a run, whose tables `league db migrate` has created. Rejects with the error of pg if the database does not answer, and with OtherSchema if its
 * tables have another version. A manager has up to ten connections: one for its transactions, one that reads later commits, one that listens, and those
 * of its other reads.
 */
export async function openPostgresRun({
  url,
  queue,
  clock,
  ids,
  warn,
  maxCommits = COMMITS_OF_A_READ,
}: PostgresRunOptions): Promise<PostgresRun> {
  const open = (options: Partial<PostgresOptions>) =>
    openPostgres<RunTables>(url, { applicationName: "league-manager", isPrimary: true, ...options });
  const readers = open({ maxConnections: READERS });
  const writer = open({ maxConnections: 1, statementTimeoutMs: WRITER_TIMEOUT_MS });
  // Slow reads must not delay the commands, which wait for the later commits.
  const commits = open({ maxConnections: 1, statementTimeoutMs: WRITER_TIMEOUT_MS });
  const listening = open({ maxConnections: 1, statementTimeoutMs: LISTENER_TIMEOUT_MS });
  const closeAll = async (): Promise<void> => {
    await Promise.all([readers, writer, commits, listening].map(({ close }) => close()));
  };
  try {
    await assertSchema(readers.pool, MIGRATIONS);
    const user = warn ? await userWithoutLimits(readers.pool) : null;
    if (user !== null) warn?.(withoutLimits(user));
    const notifications = await openNotifications({ pool: listening.pool, clock, sender: ids.uuid() });
    const { listener, notifyOfCommit: notify } = notifications;
    const partsAfter = (after: number) => withReadErrors(readParts(commits.pool, after, maxCommits));
    return {
      ...runStore(readers),
      ...runTransactions({ pool: writer.pool, queue, notify, partsAfter, maxCommits, clock }),
      ...notifications,
      commitsAfter: async (after) => joinParts(await partsAfter(after)),
      heartbeat: (self) => recordHeartbeat(listener, self),
      time: () => timeOf(listener),
      leave: (managerId) => recordLeave(listener, managerId),
      async close() {
        await listener.close();
        await closeAll();
      },
    };
  } catch (thrown) {
    await closeAll();
    throw thrown;
  }
}

const withoutLimits = (user: string): string =>
  `user "${user}" may remove results from the database: create a role for the managers, enter "league db migrate --role ROLE", and name that role in the URL`;
