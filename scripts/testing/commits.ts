import { DatabaseSync } from "node:sqlite";
import { systemClock } from "#shared/lib/clock.ts";

const POLL_INTERVAL_MS = 3;

/**
 * Resolves with true when a manager has committed `count` more events to its store, or with false when `signal` is aborted. The store is polled:
 * a file watcher would be triggered by the reads of this function.
 */
export function afterCommits(storeFile: string, count: number, signal: AbortSignal): Promise<boolean> {
  const target = eventCount(storeFile) + count;
  return new Promise((resolve) => {
    const stopPolling = systemClock.every(POLL_INTERVAL_MS, () => {
      const isReached = eventCount(storeFile) >= target;
      if (!isReached && !signal.aborted) return;
      stopPolling();
      resolve(isReached);
    });
  });
}

/** Returns the number of events in a store; 0 if the store cannot be read yet. */
function eventCount(storeFile: string): number {
  try {
    const db = new DatabaseSync(storeFile, { readOnly: true });
    try {
      return Number(db.prepare("SELECT count(*) AS count FROM log").get()?.count);
    } finally {
      db.close();
    }
  } catch {
    return 0; // the store is being created or is locked
  }
}
