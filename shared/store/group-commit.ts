import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { isBroken, isBusy, unwritableCause } from "./store-errors.ts";

/** SQL with its positional parameters, as plain data that can be sent to another thread. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

/** Statements that are committed together or not at all. */
export type Unit = readonly Statement[];

/** The reason why a unit was not committed, as plain data. */
export interface Failure {
  readonly message: string;
  /** Whether another process had locked the file. */
  readonly isBusy: boolean;
  /** Why the file cannot be written, if the unit may succeed later (`unwritableCause`); else null. */
  readonly unwritable: string | null;
}

/** The outcome of each unit of a group: null if it is committed, otherwise its failure. */
export type Outcomes = readonly (Failure | null)[];

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
