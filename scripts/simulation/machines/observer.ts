import type { Database } from "#shared/store/sqlite.ts";
import type { ObservedRequest } from "./connection.ts";

/** Receives the messages, commits and trace lines of a run. */
export interface Observer {
  onRequest(request: ObservedRequest): void;
  onAnswer(request: ObservedRequest, reply: string): void;
  /** Called after a commit to a database of a machine, before the process is notified. */
  onCommitted(machine: string, db: Database): void;
  trace(line: string): void;
}
