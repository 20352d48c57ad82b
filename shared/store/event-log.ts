import type { NewEvent, RecordedEvent } from "#shared/lib/hash.ts";
import type { Statement } from "./writer.ts";

export type { NewEvent, RecordedEvent };

/** Events to append to one stream. There must be at least one. */
export interface StreamAppend {
  readonly stream: string;
  /** The number of events that the stream must have; 0 for a new stream. */
  readonly expectedVersion: number;
  readonly events: readonly NewEvent[];
}

/** Thrown if a stream does not have the number of events that an append expects, because another append came first. */
export class VersionConflict extends Error {
  readonly stream: string;
  readonly expectedVersion: number;
  readonly actualVersion: number;

  constructor(stream: string, expectedVersion: number, actualVersion: number, options?: ErrorOptions) {
    super(`stream ${stream} has ${actualVersion} events, not ${expectedVersion}`, options);
    this.name = "VersionConflict";
    this.stream = stream;
    this.expectedVersion = expectedVersion;
    this.actualVersion = actualVersion;
  }
}

/**
 * The append-only log of all streams of one store in SQLite. Every implementation passes the contract test
 * `testing/event-log.suite.ts`. A run in PostgreSQL has another interface, because its managers share the log: see
 * `RunDatabase` in league-manager/shared-run.
 * - `append` resolves after its events are committed to disk; a rejected append has no effect;
 * - the events of a stream have gapless sequence numbers and are chained by their hashes, which the log computes;
 * - appends in one turn of the event loop share a transaction; a failed append fails only itself and the appends that
 *   build on it;
 * - events are never updated, deleted or replaced.
 */
export interface EventLog {
  /**
   * Appends to several different streams in one transaction. The statements `alongside` run in the same transaction,
   * after the events. Resolves with the recorded events. Rejects with VersionConflict if a stream does not have the
   * expected version. Pending appends count, so that an append can build on one that is not committed yet.
   */
  append(appends: readonly StreamAppend[], alongside?: readonly Statement[]): Promise<readonly RecordedEvent[]>;
  /**
   * Returns the committed events of a stream from a sequence number on, at most `limit`; empty for an unknown stream.
   */
  read(stream: string, from?: number, limit?: number): readonly RecordedEvent[];
  /** Returns the committed streams whose name begins with a prefix, in the order of their creation. */
  streams(prefix?: string): readonly string[];
}
