import type { JobChanges } from "../../match-queue.ts";
import type { RunDatabase } from "../run-database.ts";

/** A run whose database the tests can reach, cut and restore. Each manager has its own connection to it. */
export interface TestedRun {
  /** Opens the run as one more manager does. Resolves when the manager would receive notifications. */
  connect(): Promise<RunDatabase>;
  /** The jobs that committed transactions have added and ended, in their order. */
  jobs(): Promise<JobChanges>;
  /** Cuts all connections and refuses new ones until `restore` is called. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** Cuts the connection of the next commit of any manager: before the database has made it, or after that and before its answer. */
  loseNextCommit(moment: "before" | "after"): void;
  /** Lets time pass for the database. */
  passTime(ms: number): Promise<void>;
  close(): Promise<void>;
}
