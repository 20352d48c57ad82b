import type { Pool } from "pg";
import type { Clock } from "#shared/lib/clock.ts";
import { inTransaction } from "#shared/store/postgres/connection.ts";
import type { LaterCommits, NewCommit, RunDatabase } from "../shared-run/run-database.ts";
import { type CommitsPart, joinParts, readPart } from "./read-commits.ts";
import { runError, withReadErrors } from "./run-errors.ts";
import { type RunTransaction, transactionOn } from "./run-transaction.ts";
import { StreamHeads } from "./stream-heads.ts";
import { type JobWriter, writeCommit } from "./write-commit.ts";

/** The advisory lock of the run. Only one manager at a time decides and commits. */
export const RUN_LOCK = 7_211_002;

interface TransactionOptions {
  /** A pool of one connection: the transactions of one manager wait for each other here, not in the database. */
  readonly pool: Pool;
  readonly queue: JobWriter;
  /** Notifies the other managers when the transaction is committed. */
  readonly notify: (transaction: RunTransaction) => Promise<unknown>;
  /** Reads the commits after a commit without the lock. Rejects with DatabaseUnavailable. */
  readonly partsAfter: (after: number) => Promise<readonly CommitsPart[]>;
  /** The maximum number of commits that are read with the lock. */
  readonly maxCommits: number;
  readonly clock: Pick<Clock, "monotonic">;
}

/** The start of a league of a thousand players can take longer than the server lets a transaction wait. Its repetition has more time. */
const SLOW_DECISION_MS = 1_000;
const ALLOW_SLOW_DECISION = "SET LOCAL idle_in_transaction_session_timeout = '20s'";

/** Returns the operations that take the lock of the run. */
export function runTransactions(options: TransactionOptions): Pick<RunDatabase, "transact" | "hasCommit"> {
  const { pool } = options;
  const heads = new StreamHeads();
  const pace: Pace = { isSlow: false };
  const inTurn = turns();
  const hasCommit = (id: string): Promise<boolean> =>
    inLockedTransaction(pool, async (transaction) => {
      const { rows } = await transaction.query(SELECT_COMMIT, [id]);
      return rows.length > 0;
    });
  return {
    transact: (after, decide) => inTurn(() => transact(options, { heads, pace }, after, decide)),
    hasCommit: (id) => inTurn(() => withReadErrors(hasCommit(id))),
  };
}

/** Returns a function that calls operations one after the other. */
function turns(): <T>(operation: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (operation) => {
    const done = last.then(operation);
    last = done.catch(() => {});
    return done;
  };
}

/** The outcome of a transaction: a decision on all commits, or none because the manager was too far behind. */
type TransactionResult =
  | { readonly isBehind: true }
  | { readonly isBehind: false; readonly committed: Pick<LaterCommits, "number" | "events"> | null };

/** Whether the decision of the last transaction took longer than `SLOW_DECISION_MS` and was not committed. */
interface Pace {
  isSlow: boolean;
}

interface Memory {
  readonly heads: StreamHeads;
  readonly pace: Pace;
}

/** A manager that is far behind gives the lock back and reads the old commits without it, so that the other managers do not wait. */
async function transact(
  options: TransactionOptions,
  { heads, pace }: Memory,
  after: number,
  decide: (later: LaterCommits) => NewCommit | null,
): Promise<void> {
  const { pool, partsAfter, maxCommits, clock } = options;
  const parts: CommitsPart[] = [];
  const newest = (): number => parts.at(-1)?.number ?? after;
  let rejected: { readonly reason: unknown } | null = null;
  const decideOn = (later: LaterCommits): NewCommit | null => {
    try {
      return decide(later);
    } catch (reason) {
      rejected = { reason };
      throw reason;
    }
  };
  const decideAndAppend = async (transaction: RunTransaction): Promise<TransactionResult> => {
    if (pace.isSlow) await transaction.query(ALLOW_SLOW_DECISION, []);
    const part = await readPart(transaction, newest(), maxCommits);
    parts.push(part);
    if (!part.isLast) return { isBehind: true };
    const later = joinParts(parts);
    heads.follow(after, later);
    const startedAt = clock.monotonic();
    const commit = decideOn(later);
    pace.isSlow = clock.monotonic() - startedAt > SLOW_DECISION_MS;
    return {
      isBehind: false,
      committed: commit && (await append(transaction, options, heads, later.number + 1, commit)),
    };
  };
  try {
    for (;;) {
      const decision = await inLockedTransaction(pool, decideAndAppend);
      if (!decision.isBehind) {
        const { committed } = decision;
        pace.isSlow = false;
        if (committed) heads.follow(committed.number - 1, committed);
        return;
      }
      parts.push(...(await partsAfter(newest())));
    }
  } catch (thrown) {
    // An exception of `decide` is passed on unchanged.
    throw rejected === null ? runError(thrown) : thrown;
  }
}

async function append(
  transaction: RunTransaction,
  { queue, notify }: TransactionOptions,
  heads: StreamHeads,
  number: number,
  commit: NewCommit,
): Promise<Pick<LaterCommits, "number" | "events">> {
  const events = await heads.chain(transaction, commit.appends);
  await Promise.all([writeCommit(transaction, queue, number, commit, events), notify(transaction)]);
  return { number, events };
}

/**
 * Runs statements in a transaction that has the lock of the run from begin to end. It is READ COMMITTED: a snapshot that was taken before the lock would
 * not have the newest commits. BEGIN, the lock and the first statements of `body` are sent at once, and the database executes them in this order.
 */
const inLockedTransaction = <T>(pool: Pool, body: (transaction: RunTransaction) => Promise<T>): Promise<T> =>
  inTransaction(
    pool,
    async (client) => {
      const transaction = transactionOn(client);
      const [, result] = await Promise.all([transaction.query(LOCK, []), body(transaction)]);
      return result;
    },
    "BEGIN ISOLATION LEVEL READ COMMITTED",
  );

const LOCK = `SELECT pg_advisory_xact_lock(${RUN_LOCK})`;
const SELECT_COMMIT = "SELECT number FROM commits WHERE id = $1";
