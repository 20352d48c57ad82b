import { DatabaseSync } from "node:sqlite";
import { systemClock } from "#shared/lib/clock.ts";

const LOOK_EVERY_MS = 3;

/**
 * Resolves true as soon as a manager has committed `count` more events to its store, false when `signal` is aborted before. The store is polled:
 * reading it would wake a watcher of its folder.
 */
export function afterCommits(storeFile: string, count: number, signal: AbortSignal): Promise<boolean> {
  const wanted = eventCount(storeFile) + count;
  return new Promise((resolve) => {
    const end = systemClock.every(LOOK_EVERY_MS, () => {
      const isReached = eventCount(storeFile) >= wanted;
      if (!isReached && !signal.aborted) return;
      end();
      resolve(isReached);
    });
  });
}

/** The events in a store; 0 before its tables are there. */
function eventCount(storeFile: string): number {
  try {
    const db = new DatabaseSync(storeFile, { readOnly: true });
    try {
      return Number(db.prepare("SELECT count(*) AS count FROM log").get()?.count);
    } finally {
      db.close();
    }
  } catch {
    return 0; // it is being created, or locked for a moment
  }
}
