import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import type { Clock } from "#shared/lib/clock.ts";
import { moduleUrl } from "#shared/lib/module-file.ts";
import { isBroken, isBusy, StoreBusy, StoreUnwritable, unwritableCause } from "./store-errors.ts";

/** Writes units to a database, many units in one transaction. */
export interface Writer {
  /**
   * Resolves after the unit is on disk. Rejects if the unit failed; no part of it is written then. After StoreBusy
   * and StoreUnwritable the caller may try again.
   */
  commit(unit: Unit): Promise<void>;
  /** Resolves when all pending units are settled and the writer has ended. */
  close(): Promise<void>;
}

/** The writer of a database that is only read. It rejects every commit. */
export const noWriter: Writer = {
  commit: () => Promise.reject(new Error("the database was opened for reading")),
  close: async () => {},
};

/**
 * Creates a writer on this thread. It waits until no other code has a transaction open on the connection. Calls
 * `onBroken` when the file can no longer be written.
 */
export function localWriter(db: DatabaseSync, clock: Clock, onBroken?: (error: Error) => void): Writer {
  const commit = groupCommit(db, onBroken);
  return inGroups(
    async (group) => {
      while (db.isTransaction) await clock.nextTurn();
      return commit(group);
    },
    async () => {},
    clock,
  );
}

/**
 * Creates a writer on a separate thread, so that this thread does not wait for the disk. The tables must exist already.
 * Calls `onFailure` when the thread has ended with an error; then every commit rejects.
 */
export function threadWriter(file: string, onFailure: (reason: Error) => void, clock: Clock): Writer {
  const worker = new Worker(moduleUrl("./writer-thread.ts", import.meta.url), { workerData: file });
  let pendingGroup: PromiseWithResolvers<Outcomes> | null = null;
  let failure: Error | null = null;
  worker.on("message", (outcomes: Outcomes) => pendingGroup?.resolve(outcomes));
  worker.on("error", (thrown) => {
    failure = new Error("the writer thread failed", { cause: thrown });
    pendingGroup?.reject(failure);
    onFailure(failure);
  });
  return inGroups(
    (group) => {
      if (failure) return Promise.reject(failure);
      pendingGroup = Promise.withResolvers();
      worker.postMessage(group);
      return pendingGroup.promise;
    },
    async () => {
      failure ??= new Error("the store is closed");
      await worker.terminate();
    },
    clock,
  );
}

function errorOf({ message, isBusy, unwritable }: Failure): Error {
  if (unwritable !== null) return new StoreUnwritable(unwritable);
  return isBusy ? new StoreBusy(message) : new Error(message);
}

/**
 * Creates a writer that groups units: all units of one turn of the event loop, and all units that arrive while a group
 * is being written.
 */
function inGroups(
  write: (group: readonly Unit[]) => Promise<Outcomes>,
  end: () => Promise<void>,
  clock: Clock,
): Writer {
  interface Pending {
    readonly unit: Unit;
    readonly resolve: () => void;
    readonly reject: (reason: unknown) => void;
  }
  let waiting: Pending[] = [];
  let writing: Promise<void> | null = null;

  const writeAll = async (): Promise<void> => {
    await clock.nextTurn();
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        const outcomes = await write(group.map(({ unit }) => unit));
        for (const [index, { resolve, reject }] of group.entries()) {
          const failure = outcomes[index];
          if (!failure) resolve();
          else reject(errorOf(failure));
        }
      } catch (thrown) {
        for (const { reject } of group) reject(thrown);
      }
    }
    writing = null;
  };

  return {
    commit: (unit) =>
      new Promise((resolve, reject) => {
        waiting.push({ unit, resolve, reject });
        writing ??= writeAll();
      }),
    async close() {
      await writing;
      await end();
    },
  };
}

/** SQL with its positional parameters, as plain data that can be sent to another thread. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

/** Statements that are committed together or not at all. */
export type Unit = readonly Statement[];

/** The reason why a unit was not committed, as plain data. */
interface Failure {
  readonly message: string;
  /** Whether another process had locked the file. */
  readonly isBusy: boolean;
  /** Why the file cannot be written, if the unit may succeed later (`unwritableCause`); else null. */
  readonly unwritable: string | null;
}

/** The outcome of each unit of a group: null if it is committed, otherwise its failure. */
type Outcomes = readonly (Failure | null)[];

/**
 * Returns a function that commits a group of units in one transaction. A unit that breaks a constraint is rolled back
 * and fails without the other units. A failed commit fails the whole group. Calls `onBroken` when the file can no
 * longer be written.
 */
export function groupCommit(
  db: DatabaseSync,
  onBroken: (error: Error) => void = () => {},
): (group: readonly Unit[]) => Outcomes {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const prepared = new Map<string, StatementSync>();

  const write = (unit: Unit): void => {
    for (const { sql, parameters } of unit) {
      let statement = prepared.get(sql);
      if (!statement) {
        statement = db.prepare(sql);
        prepared.set(sql, statement);
      }
      statement.run(...parameters);
    }
  };
  const transact = (body: () => Outcomes): Outcomes => {
    begin.run();
    try {
      const outcomes = body();
      commit.run();
      return outcomes;
    } catch (thrown) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw thrown;
    }
  };
  const failureOf = (thrown: unknown): Failure => {
    if (isBroken(thrown)) onBroken(thrown);
    return { message: String(thrown), isBusy: isBusy(thrown), unwritable: unwritableCause(thrown) };
  };
  /** Runs a unit in a savepoint. Returns its failure, or null. Throws if SQLite has rolled back the whole transaction. */
  const attempt = (unit: Unit): Failure | null => {
    db.exec("SAVEPOINT unit");
    try {
      write(unit);
      db.exec("RELEASE unit");
      return null;
    } catch (thrown) {
      if (!db.isTransaction) throw thrown; // SQLite has rolled back the whole transaction (disk full, I/O error)
      db.exec("ROLLBACK TO unit");
      db.exec("RELEASE unit");
      return failureOf(thrown);
    }
  };

  return (group) => {
    try {
      return transact(() => {
        for (const unit of group) write(unit);
        return group.map(() => null);
      });
    } catch {
      try {
        return transact(() => group.map(attempt));
      } catch (thrown) {
        const failure = failureOf(thrown);
        return group.map(() => failure);
      }
    }
  };
}
