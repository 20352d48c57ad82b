import type { NewEvent, RecordedEvent } from "../lib/hash-chain.ts";
import type { Statement } from "./group-commit.ts";

export type { NewEvent, RecordedEvent };

/** Events to append to one stream; at least one. */
export interface StreamAppend {
  readonly stream: string;
  /** The number of events that the stream must have: 0 for a new stream. */
  readonly expectedVersion: number;
  readonly events: readonly NewEvent[];
}

/** The stream does not have the number of events that an append expected; another append came first. */
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
 * The append-only log of all streams of one store. Every implementation passes `event-log.test.ts`:
 * - `append` resolves after its events are committed to disk; an append that is rejected leaves no trace;
 * - the events of a stream have gapless sequence numbers and are chained by their hashes, which the log computes;
 * - appends made in one turn of the event loop share a transaction, and an append that fails does so alone, with those made on top of it;
 * - nothing updates, deletes or replaces an event.
 */
export interface EventLog {
  /**
   * Appends to several different streams in one transaction, all or nothing; `alongside` statements are in the same transaction,
   * after the events. Resolves with the recorded events. Rejects with VersionConflict when a stream does not have the expected
   * version; appends that are under way count, so that an append can be made on top of one that has not been committed yet.
   */
  append(appends: readonly StreamAppend[], alongside?: readonly Statement[]): Promise<readonly RecordedEvent[]>;
  /** The committed events of a stream from a sequence number on, at most `limit`; empty for an unknown stream. */
  read(stream: string, from?: number, limit?: number): readonly RecordedEvent[];
  /** The committed streams whose name starts with a prefix, in the order of their creation. */
  streams(prefix?: string): readonly string[];
}
