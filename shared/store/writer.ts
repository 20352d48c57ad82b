import type { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import type { Clock } from "../lib/clock.ts";
import { groupCommit, type Outcomes, type Unit } from "./group-commit.ts";
import { StoreBusy } from "./store-errors.ts";

/** Writes units to a database, many in one transaction. */
export interface Writer {
  /** Resolves once the unit is on disk; rejects when the unit failed, and none of it is written then. After StoreBusy the caller may try again. */
  commit(unit: Unit): Promise<void>;
  /** Resolves when every unit handed in is settled and the writer has ended. */
  close(): Promise<void>;
}

/** The writer of a database that is only read: every commit rejects. */
export const noWriter: Writer = {
  commit: () => Promise.reject(new Error("the database was opened for reading")),
  close: async () => {},
};

/**
 * A writer on this thread. It waits until no other code has a transaction open on the connection. `onBroken` is called when the file can no
 * longer be written.
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
 * A writer of a file on a separate thread, so that this thread does not wait for the disk. The file must have its tables already.
 * `onDeath` is called when the thread has ended by an error; every later commit rejects.
 */
export function threadWriter(file: string, onDeath: (reason: Error) => void, clock: Clock): Writer {
  const worker = new Worker(new URL("./writer-thread.ts", import.meta.url), { workerData: file });
  let underway: PromiseWithResolvers<Outcomes> | null = null;
  let died: Error | null = null;
  worker.on("message", (outcomes: Outcomes) => underway?.resolve(outcomes));
  worker.on("error", (thrown) => {
    died = new Error("the writing thread died", { cause: thrown });
    underway?.reject(died);
    onDeath(died);
  });
  return inGroups(
    (group) => {
      if (died) return Promise.reject(died);
      underway = Promise.withResolvers();
      worker.postMessage(group);
      return underway.promise;
    },
    async () => {
      died ??= new Error("the store is closed");
      await worker.terminate();
    },
    clock,
  );
}

/** Puts units into groups: all of one turn of the event loop, and all that come while a group is being written. */
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
          else reject(failure.isBusy ? new StoreBusy(failure.message) : new Error(failure.message));
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
