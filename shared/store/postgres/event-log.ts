import type { Pool, PoolClient } from "pg";
import { type AsyncEventLog, assertAppends, type RecordedEvent, type StreamAppend } from "../event-log.ts";
import type { Statement } from "../group-commit.ts";
import { inTransaction } from "./connection.ts";
import { appendWithin, readStream, readStreams } from "./log-statements.ts";

/** The advisory lock of all writers of a log. A transaction that appends takes it first, and so do the ledgers of managers. */
export const LOG_LOCK = 7_211_002;

/** An append that waits for its transaction. */
interface Waiting {
  readonly appends: readonly StreamAppend[];
  readonly alongside: readonly Statement[];
  readonly outcome: PromiseWithResolvers<readonly RecordedEvent[]>;
}

/** The events of an append, or the reason why it was not committed. */
type Outcome = { readonly recorded: readonly RecordedEvent[] } | { readonly failure: unknown };

/**
 * Opens the event log in the tables `EVENT_LOG_TABLES` of a database. Several processes may use it at once. The appends
 * of one turn of the event loop, and those that wait for the transaction before, share a transaction. An append that is
 * rejected with LostCommit was committed or not. Statements `alongside` have parameters `$1`, `$2`, …
 */
export function postgresEventLog(pool: Pool): AsyncEventLog {
  let waiting: Waiting[] = [];
  let isWriting = false;

  const write = async (): Promise<void> => {
    isWriting = true;
    // The appends of this turn of the event loop share the transaction.
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      const outcomes = await inTransaction(pool, (client) => appendGroup(client, group)).catch((failure) =>
        group.map((): Outcome => ({ failure })),
      );
      for (const [index, { outcome }] of group.entries()) {
        const settled = outcomes[index] as Outcome;
        if ("recorded" in settled) outcome.resolve(settled.recorded);
        else outcome.reject(settled.failure);
      }
    }
    isWriting = false;
  };

  return {
    async append(appends, alongside = []) {
      assertAppends(appends);
      const outcome = Promise.withResolvers<readonly RecordedEvent[]>();
      waiting.push({ appends, alongside, outcome });
      if (!isWriting) void write();
      return outcome.promise;
    },
    read: (stream, from, limit) => readStream(pool, stream, from, limit),
    streams: (prefix) => readStreams(pool, prefix),
  };
}

/**
 * Executes a group of appends in their order, in one transaction. Each append has a savepoint, so that a failed one does
 * not fail the others, and the next commit number.
 */
async function appendGroup(client: PoolClient, group: readonly Waiting[]): Promise<readonly Outcome[]> {
  await client.query("SELECT pg_advisory_xact_lock($1)", [LOG_LOCK]);
  const { rows } = await client.query("SELECT coalesce(max(commit_number), 0) AS number FROM log");
  let number: number = rows[0].number;
  const outcomes: Outcome[] = [];
  for (const { appends, alongside } of group) {
    await client.query("SAVEPOINT append");
    try {
      const recorded = await appendWithin(client, appends, ++number);
      for (const { sql, parameters } of alongside) await client.query(sql, [...parameters]);
      await client.query("RELEASE append");
      outcomes.push({ recorded });
    } catch (failure) {
      await client.query("ROLLBACK TO append");
      outcomes.push({ failure });
    }
  }
  return outcomes;
}
