import type { RecordedEvent, StreamAppend } from "#shared/store/event-log.ts";
import type { Profile } from "../agents/registered-agent.ts";
import type { Write } from "../ledger.ts";
import type { JobChanges } from "../match-queue.ts";

/** The commits of the managers of a run after a given commit. */
export interface LaterCommits {
  /** The number of the newest commit; 0 if there is none. Commits are numbered 1, 2, 3 … without gaps. */
  readonly number: number;
  /** The events of these commits, in their order. */
  readonly events: readonly RecordedEvent[];
  /** The current profiles of the agents whose profiles these commits have written; null for an erased one. */
  readonly profiles: ReadonlyMap<string, Profile | null>;
}

/** The decisions of one batch of commands. */
export interface NewCommit {
  /** A random id. `hasCommit` finds the commit by it. */
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly appends: readonly StreamAppend[];
  readonly writes: readonly Write[];
  readonly jobs: JobChanges;
}

/** A manager of the run. */
export interface Member {
  readonly managerId: string;
  /** The origin at which the other managers reach it, e.g. `http://10.0.0.5:8000`. */
  readonly url: string;
}

/** The database does not answer, or has rolled the transaction back because of another one. Nothing was committed, and the caller may try again. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
}

/** For operations that are repeated later: ignores DatabaseUnavailable and throws any other error. */
export function ignoreUnavailable(thrown: unknown): void {
  if (!(thrown instanceof DatabaseUnavailable)) throw thrown;
}

/** The connection was lost during the commit, which was made or not. `hasCommit` finds out. */
export class CommitUnknown extends Error {
  override readonly name = "CommitUnknown";
}

/** The part of a database that the ledgers of several managers share. Every implementation passes `testing/run-database.suite.ts`. */
export interface RunDatabase {
  /** Returns the commits after a commit. Rejects with DatabaseUnavailable. */
  commitsAfter(after: number): Promise<LaterCommits>;
  /**
   * Takes the lock of the run, reads the commits after a commit, calls `decide` once with them and commits the result under the number after
   * `later.number`, in one transaction. If `decide` returns null, nothing is committed. Rejects with DatabaseUnavailable, CommitUnknown, or the exception of `decide`.
   * After any other error the log cannot be continued.
   */
  transact(after: number, decide: (later: LaterCommits) => NewCommit | null): Promise<void>;
  /** Returns whether a commit was made. Waits until its transaction has ended. Rejects with DatabaseUnavailable. */
  hasCommit(id: string): Promise<boolean>;
  /** Adds a listener that is called soon after commits of other managers, and after each new connection. Several commits may cause one call. */
  onCommits(listener: () => void): () => void;
  /**
   * Records the heartbeat of a manager. Returns the managers with a heartbeat in the last five seconds, ordered by id. To be called each second.
   * Rejects with DatabaseUnavailable.
   */
  heartbeat(self: Member): Promise<readonly Member[]>;
  /** Returns the time of the database in milliseconds since the epoch. Rejects with DatabaseUnavailable. */
  time(): Promise<number>;
  /** Removes a manager from the members. */
  leave(managerId: string): Promise<void>;
  /** Sends a short text, at most 7,000 bytes, to all other managers that are connected now. A manager that is not connected misses it. */
  signal(text: string): Promise<void>;
  /** Adds a listener for the signals of other managers. */
  onSignal(listener: (text: string) => void): () => void;
}
