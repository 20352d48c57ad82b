import type { RecordedEvent, StreamAppend } from "#shared/store/event-log.ts";
import { chainAppends, EMPTY_HEAD, readHeads, type StreamHead } from "#shared/store/postgres/postgres-event-log.ts";
import type { LaterCommits } from "../shared-run/run-database.ts";
import type { RunTransaction } from "./run-transaction.ts";

/** A head takes a few hundred bytes. */
const MAX_HEADS = 10_000;

/** A cache of the version and the last hash of each stream, from the events of commits. An append needs no query for a cached stream. */
export class StreamHeads {
  /** The heads by stream. The stream with the latest event is the last one. */
  readonly #heads = new Map<string, StreamHead>();
  /** The number of the commit up to which the heads are current. */
  #number = 0;

  /** Adds the events that were committed after a commit. `number` is that of the newest commit. */
  follow(after: number, { number, events }: Pick<LaterCommits, "number" | "events">): void {
    // The commits between may have events of any stream.
    if (after > this.#number) this.#heads.clear();
    for (const { stream, seq, hash } of events) {
      this.#heads.delete(stream);
      this.#heads.set(stream, { version: seq + 1, hash });
    }
    this.#number = number;
    for (const stream of this.#heads.keys()) {
      if (this.#heads.size <= MAX_HEADS) break;
      this.#heads.delete(stream);
    }
  }

  /**
   * Returns the events of appends, chained to their streams. The transaction must have the lock of the run. Throws VersionConflict if a stream does not
   * have the expected version.
   */
  async chain(transaction: RunTransaction, appends: readonly StreamAppend[]): Promise<readonly RecordedEvent[]> {
    const unknown = appends.map(({ stream }) => stream).filter((stream) => !this.#heads.has(stream));
    if (unknown.length > 0) {
      const found = await readHeads(transaction, unknown);
      for (const stream of unknown) this.#heads.set(stream, found.get(stream) ?? EMPTY_HEAD);
    }
    return chainAppends(this.#heads, appends);
  }
}
